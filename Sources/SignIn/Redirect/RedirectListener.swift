import HTTPTransport
package import NIOCore
import NIOHTTP1
import NIOPosix
import OAuth
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A listener on loopback that takes one answer from the browser
/// ([RFC 8252 §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3)).
package struct RedirectListener: Sendable {
    /// With the port that is listened on.
    let redirectURI: String
    private let channels: [any Channel]
    private let start: StartAddress

    /// The scheme, the number of this machine and the port.
    private let origin: String

    /// Listens where `uri` says; nil where the app is handed the answer instead.
    ///
    /// - Throws: ``SignInError/Code/noListener`` if the port is taken.
    init?(
        _ uri: RedirectURI,
        _ mode: ResponseMode,
        _ pendingRedirect: PendingRedirect,
        endsSession: Bool = false
    ) async throws {
        guard let place = uri.loopback else { return nil }
        start = StartAddress()
        var routes = RedirectRoutes(path: place.path, mode: mode, pendingRedirect: pendingRedirect, start: start)
        routes.endsSession = endsSession
        let bootstrap = Self.bootstrap(routes, OpenConnections())
        let (channels, port) = try await Self.channels(bootstrap, on: place.addresses, port: place.port)
        self.channels = channels
        redirectURI = place.text(port: port)
        origin = "http://\(place.host == "localhost" ? "127.0.0.1" : place.host):\(port)"
    }

    /// An address of this machine that leads this user's browser to `page`, until the sign-in is over.
    func start(leadingTo page: String) -> String? {
        guard WebAddress(secure: page) != nil else { return nil }
        start.lead(to: page)
        return origin + start.path
    }

    /// Frees the port; a browser that is being answered still gets its page.
    func stop() async {
        for channel in channels {
            do { try await channel.close() } catch { continue }  // closed already
        }
    }

    /// Listens on one port of all `addresses`; on any that is free where `port` is nil.
    private static func channels(
        _ bootstrap: ServerBootstrap,
        on addresses: [String],
        port: Int?,
        attempts: Int = 8
    ) async throws -> ([any Channel], port: Int) {
        var (channels, found) = ([any Channel](), port ?? 0)
        for address in addresses {
            do {
                let channel = try await bootstrap.bind(host: address, port: found).get()
                channels.append(channel)
                found = channel.localAddress?.port ?? found
            } catch {
                let isTaken = (error as? IOError)?.errnoCode == EADDRINUSE
                // A machine may be without the second family. Another program there may be given the answer.
                guard channels.isEmpty || isTaken else { continue }
                for channel in channels { try? await channel.close() }
                guard port != nil || !isTaken || attempts == 1 else {
                    return try await Self.channels(bootstrap, on: addresses, port: nil, attempts: attempts - 1)
                }
                let shown = port.map { "port \($0) of \(address)" } ?? address
                let reason = (error as? IOError)?.words ?? "\(error)"
                throw SignInError.noListener("\(shown) cannot be listened on (\(reason))")
            }
        }
        return (channels, found)
    }

    private static func bootstrap(_ routes: RedirectRoutes, _ connections: OpenConnections) -> ServerBootstrap {
        ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 128)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                connections.add(channel)
                return channel.eventLoop.makeCompletedFuture { try receive(on: channel, routes) }
            }
    }

    /// Reads the browser's request on `channel`, of whose event loop the caller is.
    package static func receive(on channel: any Channel, _ routes: RedirectRoutes) throws {
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
        try channel.pipeline.syncOperations.addHandler(RedirectHandler(routes))
    }
}

/// The connections of a listener.
///
/// Beyond a number that no browser reaches a new one displaces the oldest, so that a flood neither fills this process
/// nor keeps the browser out.
private final class OpenConnections: Sendable {
    private static let limit = 64

    private let channels = LockedValue<[any Channel]>([])

    func add(_ channel: any Channel) {
        let displaced = channels.withLock { channels in
            channels.append(channel)
            return channels.count > Self.limit ? channels.removeFirst() : nil
        }
        displaced?.close(promise: nil)
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.channels.withLock { channels in channels.removeAll { $0 === channel } }
        }
    }
}

/// What a listener answers, and to whom.
package struct RedirectRoutes: Sendable {
    /// The path of the redirect URI.
    let path: String
    let mode: ResponseMode
    let pendingRedirect: PendingRedirect
    let start: StartAddress

    /// Whether the answer is to a logout, and has no code.
    package var endsSession = false

    /// Whose program sent a request.
    package var owner: @Sendable (any Channel) -> ConnectionOwner = ConnectionOwner.of

    package init(path: String, mode: ResponseMode, pendingRedirect: PendingRedirect, start: StartAddress) {
        self.path = path.isEmpty ? "/" : path
        self.mode = mode
        self.pendingRedirect = pendingRedirect
        self.start = start
    }
}

/// Reads one request of the browser, answers it with a page, and passes on its parameters.
private final class RedirectHandler: ChannelInboundHandler {
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
        // A page elsewhere that was given this machine's address by its own name server is not one of ours.
        guard isAddressed(head, context) else { return send(.unknown, context) }
        let parts = head.uri.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        if parts[0].elementsEqual(routes.start.path.utf8) { return lead(head, context) }
        guard parts[0].elementsEqual(routes.path.utf8) else { return send(.unknown, context) }
        let query = AuthorizationResponse(parts.count > 1 ? Array(parts[1]) : [])
        switch (routes.mode, head.method) {
        case (.query, .GET): receive(query, context)
        case (.formPost, .POST): receive(AuthorizationResponse(Array(body.readableBytesView)), context)
        case (.formPost, .GET) where query["state"] == routes.pendingRedirect.state: receive(unposted: query, context)
        default: send(.wrongMethod, context)
        }
    }

    /// An issuer that cannot post a form says so in the address.
    ///
    /// A code that comes so is in the history of the browser, which it was to be kept from.
    private func receive(unposted answer: AuthorizationResponse, _ context: ChannelHandlerContext) {
        let isRefusal = answer.refusal != nil && answer["code"] == nil
        receive(isRefusal ? answer : answer.refused(for: "came in the address and not in a form"), context)
    }

    /// Leads the browser to the issuer's page.
    private func lead(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard head.method == .GET else { return send(.wrongMethod, context) }
        switch routes.start.answer(to: routes.owner(context.channel)) {
        case .leads(let page): send(.leading(to: page), context)
        case .nothing: send(.unknown, context)
        case .usedUp:
            routes.pendingRedirect.end(.openedTwice)
            send(.usedUp, context)
        }
    }

    private func receive(_ answer: AuthorizationResponse, _ context: ChannelHandlerContext) {
        // Of a logout the state is all that there is to come back with, and some issuers leave it out.
        guard answer.isAnswer || routes.endsSession else { return send(.unknown, context) }
        switch routes.pendingRedirect.reserve(for: answer) {
        case .foreign: send(.foreign, context)
        case .late: send(.spent, context)
        case .taken:
            // The program may end once it has the answer, so the page goes first.
            let sent = context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.whenComplete { [routes] _ in routes.pendingRedirect.deliver(answer) }
            let isDone = answer["code"] != nil && answer.flaw == nil
            send(routes.endsSession ? .signedOut : isDone ? .done : .refused, context, sent)
        }
    }

    private func isAddressed(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) -> Bool {
        let hosts = head.headers["host"]
        guard hosts.count == 1, let address = WebAddress(secure: "http://\(hosts[0])/") else { return false }
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
