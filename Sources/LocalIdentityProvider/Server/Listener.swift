import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOHTTPTypes
import NIOSSL
import OAuth
import Synchronization

/// One listening address.
struct Listener: Sendable {
    /// The open connections, so that stopping the provider ends them.
    final class Connections: Sendable {
        let channels = LockedValue<[ObjectIdentifier: any Channel]>([:])
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
            configuration: .init(additionalChannelHandlers: [
                RequestDeadline(limit: limit, clock: configuration.clock, connections: connections)
            ])
        )
        let (bound, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: responder,
            server: try configuration.tls.map { try .tls(http, tlsConfiguration: $0.server) } ?? http,
            configuration: .init(address: .hostname(host, port: port), backlog: 1024),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? port) },
            logger: Logger(label: "local-idp") { _ in SwiftLogNoOpLogHandler() }
        )
        let task = Task(executorPreference: configuration.executor) {
            do {
                try await application.run()
            } catch {
                continuation.finish(throwing: error)
                throw error
            }
        }
        do {
            var ports = bound.makeAsyncIterator()
            guard let port = try await ports.next() else { throw StartError.bind("the server at \(host) ended") }
            self.port = port
        } catch {
            // A caller that stops waiting for the port leaves no server behind.
            task.cancel()
            _ = await task.result
            throw error
        }
        self.task = task
        self.host = host
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

/// Ends connections that take too long to send a request, whether they stop or drip, and dates the answers.
///
/// Not `Sendable`: a channel handler lives on its event loop.
private final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limit: TimeAmount
    private let clock: ProviderClock
    private let connections: Listener.Connections
    private var timer: Scheduled<Void>?

    init(limit: TimeAmount, clock: ProviderClock, connections: Listener.Connections) {
        self.limit = limit
        self.clock = clock
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        connections.channels.withLock { $0[ObjectIdentifier(channel)] = channel }
        start(context, after: limit)
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        let id = ObjectIdentifier(context.channel)
        connections.channels.withLock { $0[id] = nil }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: start(context, after: limit)
        case .end: timer?.cancel()
        case .body: break
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // A connection kept alive has longer to send its next request.
        let part = unwrapOutboundIn(data)
        if case .end = part { start(context, after: limit * 4) }
        guard case .head(var head) = part else { return context.write(data, promise: promise) }
        // The server writes the time of the machine, which tokens do not go by.
        head.headerFields[.date] = clock.now.httpText
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private func start(_ context: ChannelHandlerContext, after limit: TimeAmount) {
        timer?.cancel()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: limit) {
            let (handler, context) = bound.value
            handler.expire(context)
        }
    }

    private func expire(_ context: ChannelHandlerContext) {
        let text =
            #"{"error":"invalid_request","error_codes":[9900006],"#
            + #""error_description":"The request took too long to arrive. Send it again.","suberror":"timeout"}"#
        let fields: HTTPFields = [
            .connection: "close", .contentType: "application/json", .contentLength: "\(text.utf8.count)",
        ]
        context.write(wrapOutboundOut(.head(HTTPResponse(status: .requestTimeout, headerFields: fields))), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }
}
