import Database
import IssuerSupport
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// What a server is asked first when a token has ended.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct RefreshOutlookTests {
    private enum Word { case usable, refreshable, underWay, unclear }

    private func scene(_ engine: StoreEngine = .server, _ change: (inout TokenResponse) -> Void = { _ in }) throws
        -> OpenScene
    {
        try StoreEngine.$current.withValue(engine) { try OpenScene(change) }
    }

    private func outlook(_ scene: OpenScene, _ scope: Scope = "read") throws -> Word {
        let query = scene.manager().decider.query(SilentRequest(account: scene.account, scope: scope))
        return switch try scene.store.refreshOutlook(for: query) {
        case .usable: .usable
        case .refreshable(let isUnderWay): isUnderWay ? .underWay : .refreshable
        case .unclear: .unclear
        }
    }

    private func refreshToken(_ scene: OpenScene) throws -> StoredRefreshToken {
        try #require(try scene.store.refreshTokens(of: scene.account, client: OpenScene.client).first)
    }

    private func lock(_ scene: OpenScene) async throws -> RefreshLock {
        try await scene.store.refreshLock(
            of: scene.account,
            for: .client(OpenScene.client),
            patience: .seconds(60)
        )
    }

    private func leases(_ scene: OpenScene) throws -> Int64? {
        try scene.store.read { try $0.connection.integer("SELECT count(*) FROM refresh_lease") }
    }

    @Test func `a token that is good to use is served, and refreshed once it has ended`() throws {
        let scene = try scene()
        #expect(try outlook(scene) == .usable)
        #expect(try outlook(scene, "other") == .refreshable)
        scene.expire()
        #expect(try outlook(scene) == .refreshable)
    }

    @Test func `a token that is worth refreshing is for the whole decision`() throws {
        let scene = try scene { $0.refreshIn = .seconds(60) }
        scene.clock.seconds += 120
        #expect(try outlook(scene) == .unclear)
    }

    @Test func `a refresh of another is waited for, whatever it has noted`() async throws {
        let scene = try scene()
        scene.expire()
        let lock = try await lock(scene)
        #expect(try outlook(scene) == .underWay)
        _ = try scene.store.beginRefresh(with: refreshToken(scene))
        #expect(try outlook(scene) == .underWay)
        // Nobody waits for a process that is gone.
        try scene.store.sql("UPDATE refresh_lease SET process_id = 4194305")
        #expect(try outlook(scene) == .unclear)
        await lock.release()
    }

    /// Has the store keep that a request failed, for a minute.
    private func throttle(_ scene: OpenScene) throws -> StoredRefreshToken {
        var consequence = RefreshConsequence(token: .unspent)
        let now = scene.clock.seconds
        consequence.throttle = Throttle(beganAt: now, expiresAt: now + 60, failure: JSONValue.Object())
        let query = scene.manager().decider.query(SilentRequest(account: scene.account, scope: "read"))
        let token = try refreshToken(scene)
        try scene.store.endRefresh(with: token, of: query, authority: scene.issuer.issuer, consequence)
        return token
    }

    @Test func `a refresh of another keeps nobody waiting who may not refresh`() async throws {
        let scene = try scene()
        scene.expire()
        let lock = try await lock(scene)
        _ = try throttle(scene)
        #expect(try outlook(scene) == .unclear)
        #expect(try await scene.failure()?.isThrottled == true)
        // Documents of MSAL for Apple's systems sign out an account whose tokens stay.
        try scene.store.sql("DELETE FROM throttle")
        try signOut(scene)
        #expect(try outlook(scene) == .unclear)
        #expect(try await scene.failure()?.interaction == .signedOut)
        await lock.release()
    }

    private func signOut(_ scene: OpenScene) throws {
        try scene.store.withWriter { try $0.update("account_state", set: "state = 'signed_out'") }
    }

    @Test func `who may not refresh is told so, and takes no lease`() async throws {
        let scene = try scene()
        scene.expire()
        let token = try throttle(scene)
        #expect(try outlook(scene) == .unclear)
        #expect(try await scene.failure() != nil)
        try await scene.store.removeRefreshToken(token)
        #expect(try outlook(scene) == .unclear)
        #expect(try await scene.failure()?.interaction == .noRefreshToken)
        #expect(try leases(scene) == 0)
    }

    @Test func `a token that was sent without an answer, and a sign-out, are for the whole decision`() async throws {
        let scene = try scene()
        scene.expire()
        _ = try scene.store.beginRefresh(with: refreshToken(scene))
        #expect(try outlook(scene) == .unclear)
        try scene.store.sql("DELETE FROM refresh_attempt")
        #expect(try outlook(scene) == .refreshable)
        try signOut(scene)
        #expect(try outlook(scene) == .unclear)
        #expect(try await scene.failure()?.interaction == .signedOut)
        try await scene.store.removeAccount(scene.account, client: OpenScene.client)
        #expect(try outlook(scene) == .unclear)
        #expect(try await scene.failure()?.interaction == .signedOut)
        #expect(try leases(scene) == 0)
    }

    @Test func `where there is a key a token that is bound to it may be good to use`() async throws {
        let scene = try scene()
        scene.expire()
        let bind = """
            INSERT INTO dpop_key (account_id, id, client_fold, thumbprint, created_at, secret)
            SELECT id, 1, '\(OpenScene.client)', 'thumbprint', 0, '' FROM account
            """
        try scene.store.sql(bind)
        #expect(try outlook(scene) == .unclear)
        let lock = try await lock(scene)
        #expect(try outlook(scene) == .unclear)
        await lock.release()
    }

    @Test func `a file is asked for everything at once`() throws {
        let scene = try scene(.file)
        scene.expire()
        #expect(try outlook(scene) == .unclear)
    }
}
