import LocalIdentityProvider
import NativeAuthentication
import TestSupport

/// One random walk through the state machine, and the way from wherever it ends to a sign-in.
struct Walk {
    private static let steps = 16

    /// More than the longest flow has, so that a walk that needs more is stuck.
    private static let honestSteps = 30

    private let ground: WalkFixture
    private var walker: Walker
    private var place = WalkState.start
    private(set) var findings = WalkFindings()

    init(_ number: Int, on ground: WalkFixture, generator: SeededGenerator) {
        var generator = generator
        let app = ground.apps.randomElement(using: &generator) ?? ground.apps[0]
        self.ground = ground
        walker = Walker(
            app: app,
            provider: ground.provider,
            username: "walk-\(number)@example.org",
            generator: generator
        )
    }

    /// Walks, and goes home.
    mutating func run() async throws {
        findings.walks = 1
        for _ in 0..<Self.steps { try await stray() }
        ground.provider.faults.removeAll()
        try await goHome()
    }

    /// One step at random, often with a fault in its way.
    private mutating func stray() async throws {
        if walker.chance(2, in: 3) {
            ground.provider.faults.add(fault())
            findings.faults += 1
        }
        if walker.chance(1, in: 20) {
            ground.provider.clock.advance(by: [61, 360, 660, 3_601].randomElement(using: &walker.generator) ?? 61)
        }
        try await step()
        ground.provider.faults.removeAll()
    }

    private mutating func step() async throws {
        let (before, wasSignedIn) = (try ground.stock, place.isSignedIn)
        let step = await walker.step(from: place)
        findings.steps += 1
        place = step.place
        if let failure = step.failure {
            if step.lacksRemedy { findings.problems.append("an error without advice: \(failure)") }
            // What a renewal changes is the token manager's; a flow that fails changes nothing.
            if !wasSignedIn, try ground.stock != before { findings.problems.append("stored by halves: \(failure)") }
        } else if case .signedIn(let account) = place, !wasSignedIn {
            findings.signIns += 1
            if let flaw = try ground.flaw(of: account, walker.app.configuration.clientID) {
                findings.problems.append("a sign-in with \(flaw)")
            }
        }
    }

    /// Signs in from where the walk ended, by right answers only.
    private mutating func goHome() async throws {
        walker.isHonest = true
        var hasErred = false
        for _ in 0..<Self.honestSteps {
            let wasSignedIn = place.isSignedIn
            let step = await walker.step(from: place)
            findings.steps += 1
            place = step.place
            guard step.failure != nil else {
                if wasSignedIn { return }
                hasErred = false
                continue
            }
            // Where no other answer helps, a person begins anew, once locks and requests for patience are over.
            guard hasErred || !step.isCorrectable else {
                hasErred = true
                continue
            }
            place = .start
            ground.provider.clock.advance(by: 61)
        }
        findings.problems.append("stuck: \(place)")
    }

    private mutating func fault() -> Fault {
        var routes = place.routes
        if walker.chance(1, in: 6) { routes = ["metadata", "keys", "token"] }
        let route = routes.randomElement(using: &walker.generator) ?? "token"
        let takesEffect = walker.chance(1, in: 3)
        let faults: [Fault] = [
            .status(503, at: route, takesEffect: takesEffect), .status(500, at: route, times: 2),
            .html(at: route), .emptyBadRequest(at: route), .truncatedBody(at: route), .lostResponse(at: route),
            .tooManyRequests(seconds: 5, at: route), .status(404, at: route), .wrongIDToken(.signature),
            .answer(body: #"{"challenge_type":"redirect"}"#, at: route, takesEffect: takesEffect),
            .answer(body: "{}", at: route, takesEffect: takesEffect), .answer(body: "[1,", at: route),
            .answer(status: 400, body: #"{"error":"brand_new","suberror":"newer"}"#, at: route),
            .answer(status: 400, body: #"{"error":"invalid_grant","suberror":"mfa_required"}"#, at: route),
            .answer(status: 400, body: #"{"error":"attributes_required","continuation_token":"x"}"#, at: route),
            .answer(body: #"{"continuation_token":"x","challenge_type":"password"}"#, at: route),
            .answer(status: 401, body: #"{"error":"expired_token","error_codes":[552003]}"#, at: route),
        ]
        return faults.randomElement(using: &walker.generator) ?? faults[0]
    }
}

extension WalkState {
    fileprivate var isSignedIn: Bool {
        if case .signedIn = self { true } else { false }
    }
}
