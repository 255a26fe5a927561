import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1

/// Takes every request: finds its route, reads it, answers it and writes the audit log.
struct Gateway: HTTPResponder {
    static let maximumBody = 262_144

    let state: ProviderState

    func respond(to request: Request, context: Connection) async throws -> Response {
        var exchange = Exchange(request)
        let fault = state.faults.take(at: exchange.route.name)
        exchange.idTokenFault = fault?.idToken
        if let fault, fault.hangs {
            if fault.takesEffect { _ = try await answer(&exchange, request) }
            record(exchange, status: 0, outcome: "fault")
            try await context.channel.closeFuture.get()
            return Response(status: .serviceUnavailable)
        }
        if let delay = fault?.delayMilliseconds { try await Task.sleep(for: .milliseconds(delay)) }
        var reply: Reply
        if let fault, let replacement = fault.replacement, !fault.takesEffect {
            _ = try? await request.body.collect(upTo: Self.maximumBody)  // what is not used may be broken
            reply = replacement
        } else {
            reply = try await answer(&exchange, request)
            if let replacement = fault?.replacement { reply = replacement }
        }
        record(exchange, status: reply.status, outcome: reply.outcome)
        if fault?.losesResponse == true {
            try await context.channel.close()
        }
        return response(reply, exchange, truncated: fault?.truncatesBody ?? false)
    }

    private func answer(_ exchange: inout Exchange, _ request: Request) async throws -> Reply {
        do {
            try exchange.checkHost()
            try exchange.checkMethod()
            exchange.realm = try exchange.names.map { try state.realm(tenant: $0.tenant, policy: $0.policy) }
            try await exchange.read(request)
            return try await dispatch(exchange)
        } catch let error as ProtocolError {
            if exchange.route.isPage { return Page.failure(error) }
            return try reply(error, to: exchange)
        } catch is DecodingError {
            return try reply(.invalidParameter("The JSON body"), to: exchange)
        } catch {
            // The server answers what is not HTTP itself, and nobody waits for an answer to a broken connection.
            if error is HTTPParserError || error is CancellationError || error is IOError || error is ChannelError {
                throw error
            }
            return try reply(.internalFault, to: exchange)
        }
    }

    private func reply(_ error: ProtocolError, to exchange: Exchange) throws -> Reply {
        try Reply(error, correlationID: exchange.correlationID, timestamp: state.timestamp)
    }

    private func dispatch(_ exchange: Exchange) async throws -> Reply {
        if let realm = exchange.realm {
            return try await RealmEndpoints(state: state, exchange: exchange, realm: realm).respond()
        }
        return switch exchange.route {
        case .api: try await ProtectedAPI(state: state).respond(exchange)
        case .admin: try await AdminEndpoint(state: state).respond(exchange)
        default: throw ProtocolError.unknownRoute
        }
    }

    private func record(_ exchange: Exchange, status: Int, outcome: String) {
        // Test control would drown what it is there to watch.
        guard exchange.route != .admin else { return }
        state.audit.record(
            AuditEntry(
                time: state.clock.now,
                route: exchange.route.name,
                status: status,
                outcome: outcome,
                correlationID: exchange.correlationID
            )
        )
    }

    private func response(_ reply: Reply, _ exchange: Exchange, truncated: Bool) -> Response {
        var headers = HTTPFields()
        headers[.cacheControl] = "no-store"
        for (name, value) in reply.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        for cookie in reply.cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        if let name = HTTPField.Name("client-request-id") { headers[name] = exchange.correlationID }
        let status = HTTPResponse.Status(code: reply.status)
        guard truncated else {
            let body = exchange.method == .head ? ByteBuffer() : ByteBuffer(bytes: reply.body)
            return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
        }
        let half = ByteBuffer(bytes: reply.body.prefix(reply.body.count / 2))
        let body = ResponseBody(contentLength: max(reply.body.count, 2)) { writer in
            try await writer.write(half)
            throw CancellationError()
        }
        return Response(status: status, headers: headers, body: body)
    }
}
