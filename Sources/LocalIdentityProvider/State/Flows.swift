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

/// One native sign-in, sign-up or reset on its way.
struct Flow: Sendable {
    /// What the client has to do next, and so where its continuation token is good.
    enum Step: Sendable {
        case signIn, password, code, secondFactor, registration
        case signUp, signUpCode, signUpPassword, signUpAttributes
        case reset, resetCode, newPassword, resetting
        /// Proved enough for tokens.
        case tokens

        var routes: Set<Route> {
            switch self {
            case .signIn: [.challenge]
            case .password, .code: [.challenge, .token]
            case .secondFactor: [.challenge, .introspect, .token]
            case .registration: [.registerIntrospect, .registerChallenge, .registerContinue]
            case .signUp: [.signUpChallenge]
            case .signUpCode, .signUpPassword: [.signUpChallenge, .signUpContinue]
            case .signUpAttributes: [.signUpContinue]
            case .reset: [.resetChallenge]
            case .resetCode: [.resetChallenge, .resetContinue]
            case .newPassword: [.resetSubmit]
            case .resetting: [.resetPoll]
            case .tokens: [.token]
            }
        }
    }

    let id = RandomToken.make()
    let holder: Holder
    let username: String
    /// Nil until a sign-up has made the user.
    var userID: String?
    let capabilities: Set<String>
    let expires: Date
    var step: Step
    /// Grows whenever the flow moves on.
    var stage = 0

    var password: PasswordHash?
    var attributes: [String: String] = [:]
    /// The scopes and claims of the request that asked for a second factor.
    var scope: String?
    var claims: String?
    /// Addresses whose code was entered in this flow.
    var verified: Set<String> = []
    /// How the person signed in so far (RFC 8176).
    var methods: [String] = []
    var contact: SecondFactorMethod?

    /// The contact was verified in this flow already.
    var isPreverified: Bool { contact.map { verified.contains($0.target) } ?? false }
}
