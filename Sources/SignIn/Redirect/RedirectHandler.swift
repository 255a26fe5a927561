import HTTPTransport
import NIOCore
import NIOHTTP1

/// Reads one request of the browser, answers it with a page, and passes on what it brought.
final class RedirectHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let bodyLimit = 1 << 16

    private let path: String
    private let mode: ResponseMode
    private let reception: RedirectReception
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    init(path: String, mode: ResponseMode, reception: RedirectReception) {
        self.path = path.isEmpty ? "/" : path
        self.mode = mode
        self.reception = reception
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(var part):
            body.writeBuffer(&part)
            if body.readableBytes > Self.bodyLimit { context.close(promise: nil) }
        case .end:
            guard let head else { return }
            answer(head, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A request that does not come to its end keeps no port busy.
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let parts = head.uri.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        // A page elsewhere that was given this machine's address by its own name server is none of ours.
        guard isAddressed(head, context) else { return send(.unknown, context) }
        guard parts[0].elementsEqual(path.utf8) else { return send(.unknown, context) }
        guard head.method == (mode == .query ? .GET : .POST) else { return send(.wrongMethod, context) }
        let query = parts.count > 1 ? Array(parts[1]) : []
        let outcome = Result { () throws(SignInError) in
            try AuthorizationAnswer(mode == .query ? query : Array(body.readableBytesView))
        }
        if case .success(let answer) = outcome, !answer.isAnswer { return send(.unknown, context) }
        guard reception.reserve() else { return send(.spent, context) }
        // The program may end once it has the answer, so the page goes first.
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.whenComplete { [reception] _ in reception.deliver(outcome) }
        let isRefusal = (try? outcome.get())?["code"] == nil
        send(isRefusal ? .refused : .done, context, sent)
    }

    private func isAddressed(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) -> Bool {
        let hosts = head.headers["host"]
        guard hosts.count == 1, let address = HTTPAddress("http://\(hosts[0])/") else { return false }
        return address.isLoopback && address.port == context.channel.localAddress?.port
    }

    private func send(_ page: RedirectPage, _ context: ChannelHandlerContext, _ sent: EventLoopPromise<Void>? = nil) {
        let head = HTTPResponseHead(version: .http1_1, status: page.status, headers: page.headers)
        let done = sent ?? context.eventLoop.makePromise()
        let channel = context.channel
        done.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if self.head?.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: page.text)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
    }
}
