import Foundation

/// The native flows and their continuation tokens (L01 to L04).
actor Flows {
    /// What a token is good for; the stage it was issued at makes it single-use.
    private struct Continuation {
        let flowID: String
        let stage: Int
        let step: Flow.Step
        let expires: Date
    }

    private let clock: ProviderClock
    private var flows: [String: Flow] = [:]
    private var continuations: [Fingerprint: Continuation] = [:]

    init(clock: ProviderClock) { self.clock = clock }

    func begin(_ flow: Flow) -> String {
        if flows.count.isMultiple(of: 1024) {
            flows = flows.filter { $0.value.expires + 3600 > clock.now }
            continuations = continuations.filter { flows[$0.value.flowID] != nil }
        }
        return issue(flow)
    }

    /// The flow that a token continues; nothing is consumed.
    func open(_ token: String, holder: Holder, at route: Route) throws -> Flow {
        guard let continuation = continuations[Fingerprint(token)], let flow = flows[continuation.flowID],
            flow.stage == continuation.stage, flow.holder == holder, continuation.step.routes.contains(route)
        else { throw ProtocolError.badContinuation(at: route) }
        guard clock.now < continuation.expires, clock.now < flow.expires else { throw ProtocolError.expiredToken }
        return flow
    }

    /// Keeps the changed flow and issues a token for its step; earlier tokens stay valid.
    func reissue(_ flow: Flow, at route: Route) throws -> String {
        guard flows[flow.id]?.stage == flow.stage else { throw ProtocolError.badContinuation(at: route) }
        return issue(flow)
    }

    /// Like ``reissue(_:at:)``, and earlier tokens are void, so that of two requests one gets through.
    func advance(_ flow: Flow, at route: Route) throws -> String {
        try finish(flow, at: route)
        var flow = flow
        flow.stage += 1
        return issue(flow)
    }

    func finish(_ flow: Flow, at route: Route) throws {
        guard flows[flow.id]?.stage == flow.stage else { throw ProtocolError.badContinuation(at: route) }
        flows[flow.id] = nil
    }

    private func issue(_ flow: Flow) -> String {
        flows[flow.id] = flow
        let token = RandomToken.make(prefix: "ct_")
        continuations[Fingerprint(token)] = Continuation(
            flowID: flow.id,
            stage: flow.stage,
            step: flow.step,
            expires: clock.now + TimeInterval(Lifetime.continuationToken)
        )
        return token
    }
}
