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
    private var entries: [UUID: Entry] = [:]
    private var continuations: [Fingerprint: Continuation] = [:]

    init(clock: ProviderClock, outbox: Outbox) {
        self.clock = clock
        self.outbox = outbox
    }

    func begin(_ flow: Flow, for routes: Set<Route>) -> String {
        sweep()
        entries[flow.id] = Entry(flow: flow)
        return issue(flow.id, for: routes)
    }

    /// The flow that the request continues; nothing is consumed.
    func open(_ request: ClientRequest) throws -> Flow {
        let route = request.exchange.route
        let continuation = try current(request)
        guard let flow = entries[continuation.flowID]?.flow, flow.holder == request.holder,
            continuation.routes.contains(route)
        else { throw ProtocolError.badContinuation(at: route) }
        guard clock.now < continuation.expires, clock.now < flow.expires else { throw ProtocolError.expiredToken }
        return flow
    }

    /// Another token of the same step; earlier ones stay valid.
    func repeatStep(
        _ request: ClientRequest,
        for routes: Set<Route>,
        change: @Sendable (inout Flow) -> Void = { _ in }
    ) throws -> String {
        issue(try current(request).flowID, for: routes, change: change)
    }

    /// Moves the flow on and invalidates its tokens, unless another request moved it first.
    func advance(
        _ request: ClientRequest,
        for routes: Set<Route>,
        change: @Sendable (inout Flow) -> Void
    ) throws -> String {
        issue(try claim(request), for: routes) {
            change(&$0)
            $0.codes.forget()
        }
    }

    /// Ends the flow, unless another request moved it first.
    func finish(_ request: ClientRequest) throws { entries[try claim(request)] = nil }

    private func claim(_ request: ClientRequest) throws -> UUID {
        let id = try current(request).flowID
        entries[id]?.stage += 1
        return id
    }

    /// What the request's token is good for, unless another request has overtaken it.
    private func current(_ request: ClientRequest) throws -> Continuation {
        let token = try request.form.required("continuation_token")
        guard let continuation = continuations[Fingerprint(token)],
            entries[continuation.flowID]?.stage == continuation.stage
        else { throw ProtocolError.badContinuation(at: request.exchange.route) }
        return continuation
    }

    private func issue(_ id: UUID, for routes: Set<Route>, change: (inout Flow) -> Void = { _ in }) -> String {
        if var flow = entries[id]?.flow {
            change(&flow)
            entries[id]?.flow = flow
        }
        let token = RandomToken.make(prefix: "ct_")
        continuations[Fingerprint(token)] = Continuation(
            flowID: id,
            stage: entries[id]?.stage ?? 0,
            routes: routes,
            expires: clock.now + TimeInterval(Lifetime.continuationToken)
        )
        return token
    }

    // MARK: Codes

    func sendCode(for flow: Flow, to method: AuthMethod, purpose: String) throws {
        try entries[flow.id]?.flow.codes.send(to: method, purpose: purpose, by: outbox, now: clock.now)
    }

    func checkCode(_ code: String, of flow: Flow) throws {
        // A flow that ended meanwhile accepts nothing.
        guard try entries[flow.id]?.flow.codes.check(code, now: clock.now) != nil else { throw ProtocolError.wrongCode }
    }

    private func sweep() {
        guard entries.count.isMultiple(of: 1024) else { return }
        let now = clock.now
        entries = entries.filter { $0.value.flow.expires + 3600 > now }
        continuations = continuations.filter { entries[$0.value.flowID] != nil }
    }
}
