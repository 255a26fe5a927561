import NIOCore
import NIOPosix
import Synchronization

/// An HTTP server that gives one answer and remembers what it was asked.
final class RawServer: Sendable {
    private let seen = Mutex<[String]>([])
    private let port = Mutex(0)

    var requests: [String] { seen.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(port.withLock { $0 })/" }

    static func open(body: String, _ test: (RawServer) async throws -> Void) async throws {
        let server = RawServer()
        let response = "HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\nconnection: close\r\n\r\n\(body)"
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Responder(server: server, response: response))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.port.withLock { $0 = channel.localAddress?.port ?? 0 }
        do {
            try await test(server)
        } catch {
            try await channel.close()
            throw error
        }
        try await channel.close()
    }

    /// An address where nothing listens.
    static func closedURL() async throws -> String {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        try await channel.close()
        return "http://127.0.0.1:\(port)/"
    }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: RawServer
        private let response: String
        private var text = ""

        init(server: RawServer, response: String) {
            self.server = server
            self.response = response
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            // The events these tests send end with the closing braces of their JSON.
            guard text.contains("\r\n\r\n"), text.hasSuffix("}") else { return }
            server.seen.withLock { $0.append(text) }
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response))).whenComplete { _ in
                bound.value.close(promise: nil)
            }
        }
    }
}
