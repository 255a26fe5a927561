import Crypto
import Foundation

/// The native flows, their continuation tokens and one-time codes.
actor Flows {
    /// What a token is good for; the stage it was issued at makes it single-use.
    private struct Continuation {
        let flowID: UUID
        let stage: Int
        let routes: Set<Route>
        let expires: Date
    }

    private struct Entry {
        var flow: Flow
        var stage = 0
    }

    private let clock: ProviderClock
    private let outbox: Outbox
    private let key = SymmetricKey(size: .bits256)
    private var entries: [UUID: Entry] = [:]
    private var continuations: [Fingerprint: Continuation] = [:]

    init(clock: ProviderClock, outbox: Outbox) {
        self.clock = clock
        self.outbox = outbox
    }

    /// Begins a flow and returns its first token.
    func begin(_ flow: Flow, for routes: Set<Route>) -> String {
        sweep()
        entries[flow.id] = Entry(flow: flow)
        return issue(flow.id, for: routes)
    }

    /// The flow that `token` continues at `route`; nothing is consumed.
    func open(_ token: String, _ request: NativeRequest, at route: Route) throws -> Flow {
        guard let continuation = continuations[Fingerprint(token, key: key)],
            let entry = entries[continuation.flowID], entry.flow.clientID == request.client.id,
            entry.flow.tenantID == request.realm.tenant.id, entry.stage == continuation.stage,
            continuation.routes.contains(route)
        else { throw Self.refusal(at: route) }
        guard clock.now < continuation.expires, clock.now < entry.flow.expires else { throw ProtocolError.expiredToken }
        return entry.flow
    }

    /// A bad token is `invalid_grant` where a grant is asked for and `invalid_request` elsewhere.
    static func refusal(at route: Route) -> ProtocolError {
        let text = "The continuation token is unknown, was used or belongs elsewhere. Start the flow again."
        return switch route {
        case .signUpChallenge, .challenge, .token: .invalidGrant(ErrorNumber.badContinuation, text)
        default: .invalidRequest(ErrorNumber.badContinuation, text)
        }
    }

    /// Another token of the same step; earlier ones stay valid.
    func repeatStep(
        with token: String,
        at route: Route,
        for routes: Set<Route>,
        change: @Sendable (inout Flow) -> Void = { _ in }
    ) throws -> String {
        let id = try current(token, at: route)
        if var flow = entries[id]?.flow {
            change(&flow)
            entries[id]?.flow = flow
        }
        return issue(id, for: routes)
    }

    /// Moves the flow on and invalidates its tokens, unless another request moved it first.
    func advance(
        with token: String,
        at route: Route,
        for routes: Set<Route>,
        change: @Sendable (inout Flow) -> Void
    ) throws -> String {
        let id = try claim(token, at: route)
        if var flow = entries[id]?.flow {
            change(&flow)
            flow.code = nil
            entries[id]?.flow = flow
        }
        return issue(id, for: routes)
    }

    /// Ends the flow, unless another request moved it first.
    func finish(with token: String, at route: Route) throws {
        entries[try claim(token, at: route)] = nil
    }

    private func claim(_ token: String, at route: Route) throws -> UUID {
        let id = try current(token, at: route)
        entries[id]?.stage += 1
        return id
    }

    /// The flow of a token that no other request has overtaken.
    private func current(_ token: String, at route: Route) throws -> UUID {
        guard let continuation = continuations[Fingerprint(token, key: key)],
            entries[continuation.flowID]?.stage == continuation.stage
        else { throw Self.refusal(at: route) }
        return continuation.flowID
    }

    private func issue(_ id: UUID, for routes: Set<Route>) -> String {
        let token = RandomToken.make(prefix: "ct_")
        continuations[Fingerprint(token, key: key)] = Continuation(
            flowID: id,
            stage: entries[id]?.stage ?? 0,
            routes: routes,
            expires: clock.now + TimeInterval(Lifetime.continuationToken)
        )
        return token
    }

    // MARK: Codes

    /// Sends a code, which voids the ones before it.
    func sendCode(for flow: Flow, to target: String, channel: String, purpose: String) throws {
        guard entries[flow.id]?.flow.sentCodes ?? 0 <= 5 else {
            throw ProtocolError.invalidRequest(
                ErrorNumber.tooManyCodes,
                "Too many codes were sent. Start the flow again."
            )
        }
        let code = RandomToken.digits()
        entries[flow.id]?.flow.code = OneTimeCode(code, key: key, now: clock.now)
        entries[flow.id]?.flow.sentCodes += 1
        outbox.deliver(code, to: target, channel: channel, purpose: purpose, at: clock.now)
    }

    func checkCode(_ code: String, of flow: Flow) throws {
        guard entries[flow.id]?.flow.code?.accepts(code, key: key, now: clock.now) == true else {
            throw ProtocolError.wrongCode
        }
    }

    private func sweep() {
        guard entries.count.isMultiple(of: 1024) else { return }
        let now = clock.now
        entries = entries.filter { $0.value.flow.expires + 3600 > now }
        continuations = continuations.filter { entries[$0.value.flowID] != nil }
    }
}
