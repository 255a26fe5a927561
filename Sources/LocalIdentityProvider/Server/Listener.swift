import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL

/// One listening address.
struct Listener: Sendable {
    let host: String
    let port: Int
    private let task: Task<Void, any Error>
    private let connections: Connections

    static func start(
        _ host: String,
        port: Int,
        _ configuration: LocalIdentityProvider.Configuration,
        _ gateway: LateGateway
    ) async throws -> Listener {
        let connections = Connections()
        let limit = TimeAmount.seconds(Int64(configuration.requestTimeout))
        let http = HTTPServerBuilder.http1(
            configuration: .init(additionalChannelHandlers: [RequestDeadline(limit: limit, connections: connections)])
        )
        let (bound, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: gateway,
            server: try configuration.tls.map { try .tls(http, tlsConfiguration: tls($0)) } ?? http,
            configuration: .init(address: .hostname(host, port: port), backlog: 1024),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? port) },
            logger: Logger(label: "local-idp") { _ in SwiftLogNoOpLogHandler() }
        )
        let task = Task {
            do {
                try await application.run()
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
                throw error
            }
        }
        for try await port in bound {
            return Listener(host: host, port: port, task: task, connections: connections)
        }
        throw StartError.bind("the server at \(host) ended")
    }

    func stop() async {
        task.cancel()
        connections.closeAll()
        _ = await task.result
    }

    private static func tls(_ certificate: LocalIdentityProvider.Certificate) throws -> TLSConfiguration {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate.chain).map(NIOSSLCertificateSource.certificate)
            let key = try NIOSSLPrivateKey(file: certificate.key, format: .pem)
            return .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key))
        } catch {
            throw StartError.certificate("\(error)")
        }
    }
}
