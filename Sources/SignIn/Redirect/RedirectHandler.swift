import HTTPTransport
package import NIOCore
import NIOHTTP1
import OAuth

/// What a listener answers, and to whom.
package struct RedirectRoutes: Sendable {
    /// The path of the redirect URI.
    let path: String
    let mode: ResponseMode
    let reception: RedirectReception
    let start: StartAddress

    /// Whose program sent a request.
    package var owner: @Sendable (any Channel) -> ConnectionOwner = ConnectionOwner.of

    package init(path: String, mode: ResponseMode, reception: RedirectReception, start: StartAddress) {
        self.path = path.isEmpty ? "/" : path
        self.mode = mode
        self.reception = reception
        self.start = start
    }
}

/// Reads one request of the browser, answers it with a page, and passes on what it brought.
final class RedirectHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let bodyLimit = 1 << 16

    /// How long a request and its answer may take, however they arrive.
    private static let timeLimit: TimeAmount = .seconds(10)

    private let routes: RedirectRoutes
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var deadline: Scheduled<Void>?

    init(_ routes: RedirectRoutes) { self.routes = routes }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: Self.timeLimit) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

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

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        // A page elsewhere that was given this machine's address by its own name server is none of ours.
        guard isAddressed(head, context) else { return send(.unknown, context) }
        let parts = head.uri.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        if parts[0].elementsEqual(routes.start.path.utf8) { return lead(head, context) }
        guard parts[0].elementsEqual(routes.path.utf8) else { return send(.unknown, context) }
        guard head.method == (routes.mode == .query ? .GET : .POST) else { return send(.wrongMethod, context) }
        let query = parts.count > 1 ? Array(parts[1]) : []
        receive(AuthorizationAnswer(routes.mode == .query ? query : Array(body.readableBytesView)), context)
    }

    /// Leads the browser to the issuer's page.
    private func lead(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard head.method == .GET else { return send(.wrongMethod, context) }
        switch routes.start.answer(to: routes.owner(context.channel)) {
        case .leads(let page): send(.leading(to: page), context)
        case .nothing: send(.unknown, context)
        case .usedUp:
            routes.reception.end(.openedTwice)
            send(.usedUp, context)
        }
    }

    private func receive(_ answer: AuthorizationAnswer, _ context: ChannelHandlerContext) {
        guard answer.isAnswer else { return send(.unknown, context) }
        switch routes.reception.reserve(for: answer) {
        case .foreign: send(.foreign, context)
        case .late: send(.spent, context)
        case .taken:
            // The program may end once it has the answer, so the page goes first.
            let sent = context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.whenComplete { [routes] _ in routes.reception.deliver(answer) }
            let isDone = answer["code"] != nil && answer.flaw == nil
            send(isDone ? .done : .refused, context, sent)
        }
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
