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
struct SessionCeilingTests {
    private static let refused = "the sign-in is longer ago than is allowed here; sign in again"

    private func manager(_ scene: Scene, _ maximum: Duration) throws -> TokenManager {
        try scene.manager { $0.maximumSessionAge = maximum }
    }

    /// What a manager with a ceiling says that it does not hand out.
    private func refusal(_ scene: Scene, _ maximum: Duration, _ request: SilentRequest? = nil) async throws -> String? {
        let manager = try manager(scene, maximum)
        let request = request ?? scene.request()
        return try await acquisitionError { try await manager.acquireTokenSilently(request) }.map { "\($0)" }
    }

    @Test func `a token that would outlive the session ends with it`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let whole = try await scene.manager().acquireTokenSilently(scene.request()).accessToken
            let cut = try await manager(scene, .seconds(1_800)).acquireTokenSilently(scene.request()).accessToken
            #expect(cut.secret == whole.secret)
            #expect(cut.expiresAt == Scene.start + 1_800)
            #expect(whole.expiresAt > cut.expiresAt)
        }
    }

    @Test func `beyond the ceiling a stored token is not handed out and no refresh token is spent`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.clock.advance(by: 1_800)
            #expect(try await refusal(scene, .seconds(1_800)) == Self.refused)
            scene.expire()
            #expect(try await refusal(scene, .seconds(1_800)) == Self.refused)
            #expect(scene.tokenRequestCount == 0)
            #expect(try await scene.manager().acquireTokenSilently(scene.request()).source == .refresh)
        }
    }

    @Test func `refreshes do not make the session longer`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let result = try await manager(scene, .seconds(7_200)).acquireTokenSilently(scene.request())
            #expect(result.source == .refresh)
            #expect(result.accessToken.expiresAt == Scene.start + 7_200)
            scene.clock.advance(by: 3_599)
            #expect(try await refusal(scene, .seconds(7_200)) == Self.refused)
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `a token that ends with the session is renewed ahead of that once at most`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let failures = LockedValue<[any Error]>([])
            let refresher = try manager(scene, .seconds(1_800)).keepFresh(
                scene.account,
                scopes: [Scene.toDo],
                onFailure: { _, error in failures.withLock { $0.append(error) } },
                sleep: { scene.clock.advance(by: Double($0.components.seconds)) }
            )
            await refresher.waitUntilEnded()
            #expect(failures.withLock { $0.map { "\($0)" } } == [Self.refused])
            #expect(scene.clock.now == Scene.start + 1_800)
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `a new sign-in begins a new session`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.clock.advance(by: 1_800)
            #expect(try await refusal(scene, .seconds(1_800)) == Self.refused)
            let login = Login(provider: scene.provider, transport: Scene.transport)
            try await login.signIn(to: scene.store, client: Scene.client, scope: Scene.toDo)
            let token = try await manager(scene, .seconds(1_800)).acquireTokenSilently(scene.request()).accessToken
            #expect(token.expiresAt == Scene.start + 3_600)
        }
    }

    @Test func `a longer lifetime than the session has left needs a sign-in, not a refresh`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let request = scene.request { $0.minimumLifetime = .seconds(1_801) }
            #expect(try await refusal(scene, .seconds(1_800), request) == Self.refused)
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `a clock that was set back does not make the session longer`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.clock.advance(by: 3_700)
            _ = try await scene.manager().acquireTokenSilently(scene.request())
            scene.clock.advance(by: -3_600)
            #expect(try await refusal(scene, .seconds(3_600)) == Self.refused)
            scene.clock.advance(by: -86_400)
            #expect(try await refusal(scene, .seconds(604_800)) == Self.refused)
        }
    }

    @Test(arguments: [Int64.min, .max])
    func `a sign-in beyond any calendar is too long ago`(time: Int64) async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.store.withWriter { try $0.update("account_state", set: "changed_at = \(time)") }
            #expect(try await refusal(scene, .seconds(3_600)) == Self.refused)
        }
    }

    @Test func `an account that has signed out is said to have, however old its session`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try await scene.manager().signOut(scene.account, .thisDevice)
            scene.expire()
            #expect(try await refusal(scene, .seconds(60)) == "the account has signed out; sign in again")
        }
    }
}
