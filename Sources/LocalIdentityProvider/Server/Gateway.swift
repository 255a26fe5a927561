import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1
import OAuth
import Synchronization

/// Takes every request: finds its route, reads it, answers it and writes the audit log.
final class Gateway: HTTPResponder {
    /// The connection a request came on, so that a fault can cut it.
    struct Context: InitializableFromSource {
        let channel: any Channel

        init(source: ApplicationRequestContextSource) { channel = source.channel }
    }

    /// Set once the port is known, which is after the listeners started.
    let state = LockedValue<ProviderState?>(nil)

    func respond(to request: Request, context: Context) async throws -> Response {
        guard let state = state.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
        var exchange = Exchange(request)
        let fault = state.faults.take(at: exchange.route.name)
        exchange.flaw = fault?.idToken
        if let fault, fault.hangs {
            if fault.takesEffect { _ = try await answer(&exchange, request, state) }
            state.record(exchange, Reply(status: 0, outcome: "fault"))
            try await context.channel.closeFuture.get()
            return Response(status: .serviceUnavailable)
        }
        while fault?.holds == true, state.faults.isHeld(at: exchange.route.name), context.channel.isActive {
            try await Task.sleep(for: .milliseconds(5))
        }
        if let delay = fault?.delayMilliseconds { try await Task.sleep(for: .milliseconds(delay)) }
        var reply: Reply
        if let fault, let replacement = fault.replacement, !fault.takesEffect {
            _ = try? await request.body.collect(upTo: Exchange.maximumBody)  // an unused body may be broken
            reply = replacement
        } else {
            let answer = try await answer(&exchange, request, state)
            reply = fault?.replacement ?? answer
        }
        if let nonce = state.proofs.nonce(for: exchange) { reply.headers["dpop-nonce"] = nonce }
        state.record(exchange, reply)
        if fault?.losesResponse == true { try await context.channel.close() }
        return response(reply, exchange, truncated: fault?.truncatesBody ?? false)
    }

    private func answer(_ exchange: inout Exchange, _ request: Request, _ state: ProviderState) async throws -> Reply {
        var failure: ProtocolError
        do {
            try exchange.check()
            let realm = try exchange.names.map { try state.realm(tenant: $0.tenant, policy: $0.policy) }
            try await exchange.read(request)
            return try await reply(to: exchange, at: realm, state)
        } catch let error as ProtocolError {
            failure = error
        } catch let error where error is DecodingError || error is JSONError {
            failure = .invalidParameter("The JSON body")
        } catch let error where error is HTTPParserError || error is IOError || error is ChannelError {
            throw error  // the server answers input that is not HTTP; a broken connection needs no answer
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            failure = .internalFault
        }
        if exchange.route.isPage { return Page.failure(failure) }
        return .error(failure, correlationID: exchange.correlationID, at: state.clock.now)
    }

    /// The table of routes.
    private func reply(to exchange: Exchange, at realm: Realm?, _ state: ProviderState) async throws -> Reply {
        guard let realm else {
            let isAPI = exchange.route == .api
            return try await isAPI ? state.api(exchange) : state.admin(exchange)
        }
        let issuer = IssuerEndpoints(state: state, exchange: exchange, realm: realm)
        let journey = Journey(state: state, exchange: exchange, realm: realm)
        let client = { try ClientEndpoints(state: state, exchange: exchange, realm: realm) }
        return switch exchange.route {
        case .metadata: try issuer.metadata()
        case .keys: try await issuer.keys()
        case .userInfo: try await issuer.userInfo()
        case .authorize: try await journey.authorize()
        case .device: try await journey.device()
        case .logout: try await journey.logout()
        case .token: try await client().token()
        case .deviceCode: try await client().deviceCode()
        case .revoke: try await client().revoke()
        case .introspectToken: try await client().introspectToken()
        case .initiate: try await client().initiate()
        case .signUpStart: try await client().startSignUp()
        case .resetStart: try await client().startReset()
        case .challenge, .signUpChallenge, .resetChallenge: try await client().challenge()
        case .introspect, .registerIntrospect: try await client().introspect()
        case .registerChallenge: try await client().challengeContact()
        case .signUpContinue, .registerContinue, .resetContinue: try await client().proceed()
        case .resetSubmit: try await client().submitPassword()
        case .resetPoll: try await client().pollReset()
        case .api, .admin, .unknown: throw ProtocolError.unknownRoute
        }
    }

    private func response(_ reply: Reply, _ exchange: Exchange, truncated: Bool) -> Response {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        for (name, value) in Array(reply.headers) + [("client-request-id", exchange.correlationID)] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        for cookie in reply.cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
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
