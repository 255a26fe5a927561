import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

@Suite(.onBothEngines)
struct TokenRefresherTests {
    /// The seconds that were waited, by which the clock of the scene is set forward; the wait after the last one ends
    /// it.
    private final class Waits: Sendable {
        private let waited = LockedValue<[Double]>([])
        let limit: Int
        let clock: @Sendable (Double) -> Void

        init(_ limit: Int, _ scene: OpenScene) {
            self.limit = limit
            clock = { [clock = scene.clock] in clock.seconds += Int64($0) }
        }

        var seconds: [Double] { waited.withLock(\.self) }

        func wait(_ duration: Duration) throws {
            let seconds = Double(duration.components.seconds)
            let count = waited.withLock { waited in
                waited.append(seconds)
                return waited.count
            }
            guard count < limit else { throw CancellationError() }
            clock(seconds)
        }
    }

    private func answer(_ number: Int, lifetime: Int = 3_600, more: String = "") -> HandmadeIssuer.Answer {
        let (access, refresh) = (#""access_token":"at-\#(number)""#, #""refresh_token":"rt-\#(number)""#)
        return .init(#"{\#(access),\#(refresh),"expires_in":\#(lifetime),"scope":"openid read write"\#(more)}"#)
    }

    @Test func `a token is renewed five minutes before it ends, again and again`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(answer(1), answer(2))
        let waits = Waits(12, scene)
        let refresher = scene.manager().keepFresh(scene.account, scopes: ["read"]) { try waits.wait($0) }
        await refresher.waitUntilEnded()
        #expect(waits.seconds == [600, 600, 600, 600, 600, 300, 600, 600, 600, 600, 600, 300])
        #expect(scene.tokenRequestCount == 1)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }

    @Test func `the issuer's refresh_in and a short life come before the five minutes`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(answer(1, more: #","refresh_in":100"#), answer(2, lifetime: 50), answer(3))
        let waits = Waits(3, scene)
        let refresher = scene.manager().keepFresh(scene.account, scopes: ["read"]) { try waits.wait($0) }
        await refresher.waitUntilEnded()
        #expect(waits.seconds == [100, 40, 600])
        #expect(scene.tokenRequestCount == 3)
    }

    @Test(
        arguments: [
            (3_600, #","refresh_in":0"#, [600, 600, 600, 600, 600, 300], 1), (0, "", [5, 5, 5], 3),
        ] as [(Int, String, [Double], Int)]
    )
    func `a round spends one refresh token at most`(
        lifetime: Int,
        more: String,
        seconds: [Double],
        net: Int
    ) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(answer(1, lifetime: lifetime, more: more))
        let waits = Waits(seconds.count, scene)
        let refresher = scene.manager().keepFresh(scene.account, scopes: ["read"]) { try waits.wait($0) }
        await refresher.waitUntilEnded()
        #expect(waits.seconds == seconds)
        #expect(scene.tokenRequestCount == net)
    }

    @Test(arguments: [(503, ""), (400, "<html>")])
    func `after a failure that may pass the next try comes later each time`(status: Int, body: String) async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: status, body))
        let failures = LockedValue<[Scope]>([])
        let waits = Waits(5, scene)
        let refresher = scene.manager().keepFresh(
            scene.account,
            scopes: ["read"],
            onFailure: { scope, _ in failures.withLock { $0.append(scope) } },
            sleep: { try waits.wait($0) }
        )
        await refresher.waitUntilEnded()
        #expect(waits.seconds == [30, 60, 120, 300, 300])
        #expect(failures.withLock(\.self) == Array(repeating: "read", count: 5))
    }

    @Test func `it goes on where a transport throws a cancellation by itself`() async throws {
        let scene = try OpenScene()
        scene.expire()
        let transport = InterceptingTransport(Scene.transport) { _ in throw CancellationError() }
        let failures = LockedValue<[any Error]>([])
        let waits = Waits(3, scene)
        let refresher = scene.manager(transport: transport).keepFresh(
            scene.account,
            scopes: ["read"],
            onFailure: { _, error in failures.withLock { $0.append(error) } },
            sleep: { try waits.wait($0) }
        )
        await refresher.waitUntilEnded()
        #expect(waits.seconds == [30, 60, 120])
        #expect(failures.withLock(\.count) == 3)
    }

    @Test func `a token that came before the clock was set back is renewed`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(answer(1), answer(2))
        let waits = Waits(4, scene)
        let refresher = scene.manager().keepFresh(scene.account, scopes: ["read"]) { duration in
            try waits.wait(duration)
            if waits.seconds.count == 2 { scene.clock.seconds -= 86_400 }
        }
        await refresher.waitUntilEnded()
        #expect(waits.seconds == [600, 600, 600, 600])
        #expect(scene.tokenRequestCount == 1)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }

    @Test func `the next try after a failure comes no later where the clock is set back`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(status: 503))
        let waits = Waits(3, scene)
        let refresher = scene.manager().keepFresh(scene.account, scopes: ["read"]) { duration in
            try waits.wait(duration)
            if waits.seconds.count == 1 { scene.clock.seconds -= 86_400 }
        }
        await refresher.waitUntilEnded()
        #expect(waits.seconds == [30, 60, 120])
    }

    @Test func `it ends where a person has to sign in, and says so once`() async throws {
        let scene = try OpenScene()
        scene.expire()
        try await scene.store.removeAccount(scene.account)
        let failures = LockedValue<[any Error]>([])
        let refresher = scene.manager().keepFresh(
            scene.account,
            scopes: ["read", "write"],
            onFailure: { _, error in failures.withLock { $0.append(error) } }
        )
        await refresher.waitUntilEnded()
        #expect(failures.withLock(\.count) == 2)
        #expect(scene.tokenRequestCount == 0)
    }

    @Test func `it ends with its owner`() async throws {
        let scene = try OpenScene()
        let isWaiting = LockedValue(false)
        let hasEnded = LockedValue(false)
        var refresher: TokenRefresher? = scene.manager().keepFresh(scene.account, scopes: ["read"]) { _ in
            defer { hasEnded.withLock { $0 = true } }
            isWaiting.withLock { $0 = true }
            try await Task.sleep(for: .seconds(600))
        }
        try await eventually("the wait") { isWaiting.withLock(\.self) }
        #expect(refresher != nil)
        refresher = nil
        try await eventually("the end") { hasEnded.withLock(\.self) }
    }

    @Test func `at the local provider a token is renewed ahead of its end, until its owner is gone`() async throws {
        try await Scene.open { scene in
            let waits = LockedValue<[Duration]>([])
            let hasEnded = LockedValue(false)
            let manager = try scene.manager()
            let first = try await manager.acquireTokenSilently(scene.request()).accessToken
            let spent = try scene.refreshTokens.map(\.secret)
            let isRenewed: @Sendable () -> Bool = { scene.tokenRequestCount > 0 }
            var refresher: TokenRefresher? = manager.keepFresh(scene.account, scopes: [Scene.toDo]) { duration in
                waits.withLock { $0.append(duration) }
                guard isRenewed() else { return scene.clock.advance(by: Double(duration.components.seconds)) }
                // The next token has an hour: from here on time stands still.
                defer { hasEnded.withLock { $0 = true } }
                try await Task.sleep(for: .seconds(600))
            }
            try await eventually("the wait for the end of the second token") { waits.withLock(\.count) == 7 }
            #expect(waits.withLock(\.self) == [600, 600, 600, 600, 600, 300, 600].map { .seconds($0) })
            #expect(scene.clock.now == first.expiresAt - 300)
            #expect(scene.tokenRequestCount == 1)
            let second = try await manager.acquireTokenSilently(scene.request()).accessToken
            #expect(second.secret != first.secret)
            #expect(second.expiresAt == scene.clock.now + 3_600)
            // Another process finds it too, and asks the issuer for nothing.
            let stored = try await scene.manager().acquireTokenSilently(scene.request()).accessToken
            #expect(stored.secret == second.secret)
            #expect(try scene.refreshTokens.count == 1)
            #expect(try scene.refreshTokens.map(\.secret) != spent)
            #expect(refresher != nil)
            refresher = nil
            try await eventually("the end") { hasEnded.withLock(\.self) }
            scene.clock.advance(by: 3_600)
            #expect(scene.tokenRequestCount == 1)
        }
    }
}
