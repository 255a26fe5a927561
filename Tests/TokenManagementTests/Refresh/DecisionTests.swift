import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// What `explain` says and what the manager does are the same.
@Suite(.onBothEngines)
struct DecisionTests {
    /// Four hundred stores in which lifetimes, throttles, refresh tokens and sign-outs are drawn at random.
    @Test func `the manager does what the decision says in every kind of store`() async throws {
        try await Scene.open(grace: 10) { (scene: Scene) async throws in
            var random = SeededGenerator(seed: 7)
            var seen: Set<String> = []
            for _ in 0..<400 {
                let request = scene.request(using: &random)
                try scene.scramble(for: request, using: &random)
                let manager = try scene.manager { $0.allowsExtendedLifetime = Bool.random(using: &random) }
                let said = try manager.decider.decide(request)
                let before = scene.tokenRequestCount
                let done = await Result { try await manager.acquireTokenSilently(request) }
                switch (said, done) {
                case (.serve(let expected), .success(let result)):
                    seen.insert("serve \(result.freshness)")
                    #expect(result.accessToken.secret == expected.accessToken.secret)
                    #expect(scene.tokenRequestCount == before)
                case (.refresh, .success(let result)):
                    seen.insert("refresh")
                    #expect(result.source == .refresh)
                    #expect(scene.tokenRequestCount == before + 1)
                case (.fail(let expected), .failure(let error as AcquisitionError)):
                    seen.insert("fail")
                    #expect("\(expected)" == "\(error)")
                    #expect(scene.tokenRequestCount == before)
                default: Issue.record("said \(said), did \(done)")
                }
            }
            #expect(seen == ["serve fresh", "serve aging", "serve extended", "refresh", "fail"])
        }
    }

    @Test(arguments: [Int64.min, .max])
    func `a refresh that began beyond any calendar keeps no other one waiting`(start: Int64) async throws {
        // With a token that is still good to use, a refresh that began a moment ago is not begun again.
        try await Scene.open(answering: .init(refreshIn: .seconds(1_800))) { (scene: Scene) async throws in
            _ = try scene.store.beginRefresh(with: #require(scene.refreshTokens.first))
            try scene.store.withWriter { try $0.update("refresh_attempt", set: "started_at = \(start)") }
            scene.clock.advance(by: 1_801)
            #expect(try await scene.manager().acquireTokenSilently(scene.request()).source == .refresh)
        }
    }
}

extension Scene {
    /// A request for one scope or another, with wishes drawn at random.
    fileprivate func request(using random: inout SeededGenerator) -> SilentRequest {
        let wishes = Int.random(in: 0..<12, using: &random)
        return request(Bool.random(using: &random) ? Self.toDo : Self.demo) {
            $0.forcesRefresh = wishes == 0
            $0.minimumLifetime = wishes == 1 ? .seconds(1_000) : .zero
            $0.claims = wishes == 2 ? .object(JSONValue.Object()) : nil
        }
    }

    /// Puts the one account of the store into a state drawn at random.
    fileprivate func scramble(for request: SilentRequest, using random: inout SeededGenerator) throws {
        let now = Int64(clock.now.timeIntervalSince1970)
        func draw(_ values: [String]) -> String { values.randomElement(using: &random) ?? "NULL" }
        let end = now + (Int64(draw(["3000", "200", "-10"])) ?? 0)
        let refreshOn = draw(["NULL", "\(now - 5)", "\(now + 50)"])
        let extended = now + (Int64(draw(["-5", "900"])) ?? 0)
        let state = draw(["signed_in", "signed_in", "signed_in", "signed_out"])
        try store.withWriter { session in
            try session.update(
                "access_token",
                set: """
                    cached_at = \(now - 3_000), expires_on = \(end), refresh_on = \(refreshOn),
                        extended_expires_on = \(extended)
                    """
            )
            try session.update("account_state", set: "state = '\(state)'")
        }
        try store.sql("DELETE FROM throttle; DELETE FROM refresh_attempt")
        for token in try refreshTokens { _ = try store.beginRefresh(with: token) }
        let outcome = draw(["NULL", "NULL", "'ended'"])
        try store.withWriter { try $0.update("refresh_attempt", set: "outcome = \(outcome)") }
        guard Bool.random(using: &random), let token = try refreshTokens.first else { return }
        var consequence = RefreshConsequence(token: .possiblyConsumed)
        let kind = draw(["unavailable", "unavailable", "unavailable", "refused", "possiblyConsumed", "unusable"])
        let failure = JSONValue.Object([("kind", .string(kind)), ("status", 503), ("error", "invalid_grant")])
        consequence.throttle = Throttle(beganAt: now, expiresAt: now + 30, failure: failure)
        let decider = try manager().decider
        guard let account = try store.account(account) else { return }
        let tenant = account.utid ?? ""
        let authority = "\(provider.baseURL)/\(tenant.lowercased())"
        try store.endRefresh(with: token, of: decider.query(request), authority: authority, consequence)
    }
}
