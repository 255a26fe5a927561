import NIOCore
import NIOEmbedded
import SignIn

extension EmbeddedChannel {
    /// A browser's connection to a listener at port 8080 of this machine, without a network.
    convenience init(_ routes: RedirectRoutes) throws {
        self.init()
        localAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 8_080)
        try RedirectListener.receive(on: self, routes)
        connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 50_000), promise: nil)
    }

    /// What the listener answered since the last look.
    var written: String {
        get throws {
            embeddedEventLoop.run()
            var text = ""
            while let part = try readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
            return text
        }
    }
}
