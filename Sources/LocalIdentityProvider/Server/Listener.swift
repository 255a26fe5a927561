import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import OAuth

/// One listening address.
struct Listener: Sendable {
    /// The open connections, so that stopping the provider ends them.
    final class Connections: Sendable {
        let channels = Guarded<[ObjectIdentifier: any Channel]>([:])
    }

    let host: String
    let port: Int
    private let task: Task<Void, any Error>
    private let connections: Connections

    init(
        _ host: String,
        port: Int,
        _ configuration: LocalIdentityProvider.Configuration,
        _ responder: some HTTPResponder<Gateway.Context>
    ) async throws {
        let connections = Connections()
        let limit = TimeAmount.seconds(Int64(configuration.requestTimeout))
        let http = HTTPServerBuilder.http1(
            configuration: .init(additionalChannelHandlers: [RequestDeadline(limit: limit, connections: connections)])
        )
        let (bound, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: responder,
            server: try configuration.tls.map { try .tls(http, tlsConfiguration: $0.server) } ?? http,
            configuration: .init(address: .hostname(host, port: port), backlog: 1024),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? port) },
            logger: Logger(label: "local-idp") { _ in SwiftLogNoOpLogHandler() }
        )
        task = Task(executorPreference: configuration.executor) {
            do {
                try await application.run()
            } catch {
                continuation.finish(throwing: error)
                throw error
            }
        }
        var ports = bound.makeAsyncIterator()
        guard let port = try await ports.next() else { throw StartError.bind("the server at \(host) ended") }
        self.host = host
        self.port = port
        self.connections = connections
    }

    func stop() async {
        task.cancel()
        for channel in connections.channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
        _ = await task.result
    }
}

extension LocalIdentityProvider.Certificate {
    fileprivate var server: TLSConfiguration {
        get throws {
            do {
                let chain = try NIOSSLCertificate.fromPEMFile(chain).map(NIOSSLCertificateSource.certificate)
                let key = NIOSSLPrivateKeySource.privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
                return .makeServerConfiguration(certificateChain: chain, privateKey: key)
            } catch {
                throw StartError.certificate("\(error)")
            }
        }
    }
}
