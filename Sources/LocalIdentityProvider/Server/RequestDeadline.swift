import HTTPTypes
import NIOCore
import NIOHTTPTypes
import OAuth

/// Ends connections that take too long to send a request, whether they stop or drip.
///
/// Not `Sendable`: a channel handler lives on its event loop.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limit: TimeAmount
    private let connections: Listener.Connections
    private var timer: Scheduled<Void>?

    init(limit: TimeAmount, connections: Listener.Connections) {
        self.limit = limit
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
        if case .end = unwrapOutboundIn(data) { start(context, after: limit * 4) }
        context.write(data, promise: promise)
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
