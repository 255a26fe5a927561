import Database
import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// One refresh in a fleet whose store is on a server.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct FleetRefreshTests {
    private func scene() throws -> OpenScene { try StoreEngine.$current.withValue(.server) { try OpenScene() } }

    private func lock(
        _ store: TokenStore,
        _ account: Account.ID,
        patience: Duration = .seconds(60)
    ) async throws -> RefreshLock {
        try await store.refreshLock(of: account, for: .client(OpenScene.client), patience: patience)
    }

    private func another(_ scene: OpenScene) async throws -> TokenStore {
        try await TokenStore.open(at: scene.store.location, options: scene.store.options)
    }

    @Test func `nodes that find one expired token send one request`() async throws {
        let scene = try scene()
        scene.issuer.answer(.init(#"{"access_token":"at-1","refresh_token":"rt-1","expires_in":3600}"#))
        scene.clock.seconds += 3_700
        try await withThrowingTaskGroup(of: Secret.self) { group in
            for _ in 0..<8 {
                let store = try await another(scene)
                group.addTask {
                    var options = TokenManagerOptions()
                    options.limits.total = .seconds(60)
                    let manager = TokenManager(
                        store: store,
                        clientID: OpenScene.client,
                        transport: Scene.transport,
                        options: options
                    )
                    var request = SilentRequest(account: scene.account, scope: "read")
                    request.timeout = .seconds(120)
                    return try await manager.acquireTokenSilently(request).accessToken.secret
                }
            }
            for try await token in group { #expect(token == Secret("at-1")) }
        }
        #expect(scene.tokenRequestCount == 1)
    }

    @Test func `no token is sent when the record of use cannot name the account`() async throws {
        let scene = try scene()
        scene.issuer.answer(.init(#"{"access_token":"at-1","refresh_token":"rt-1","expires_in":3600}"#))
        scene.expire()
        // One that was altered is replaced.
        try scene.store.sql("UPDATE mark_key SET secret = decode('00', 'hex')")
        try scene.store.sql("ALTER TABLE mark_key ADD CONSTRAINT stuck CHECK (false) NOT VALID")
        await #expect(throws: (any Error).self) { try await scene.acquire() }
        #expect(scene.tokenRequestCount == 0)
    }

    @Test(arguments: ["'-infinity'", "'infinity'", "now() + interval '1 year'"])
    func `a lease that was altered keeps nobody from a refresh`(end: String) async throws {
        let scene = try scene()
        scene.issuer.answer(.init(#"{"access_token":"at-1","refresh_token":"rt-1","expires_in":3600}"#))
        let held = try await lock(scene.store, scene.account)
        try scene.store.withWriter {
            try $0.connection.execute("UPDATE refresh_lease SET ends_at = \(end), host = 'x', holder = ''")
        }
        scene.clock.seconds += 3_700
        let manager = TokenManager(store: scene.store, clientID: OpenScene.client, transport: Scene.transport)
        var request = SilentRequest(account: scene.account, scope: "read")
        request.timeout = .seconds(120)
        #expect(try await manager.acquireTokenSilently(request).accessToken.secret == Secret("at-1"))
        await held.release()
    }

    @Test func `a lease is had by one, and by the next when it is given back`() async throws {
        let scene = try scene()
        let other = try await another(scene)
        let first = try await lock(scene.store, scene.account)
        #expect(!first.wasWaitedFor)
        let isReleased = LockedValue(false)
        let second = Task {
            let taken = try await lock(other, scene.account)
            return (taken, isReleased.withLock(\.self))
        }
        try await first.requireHeld()
        isReleased.withLock { $0 = true }
        await first.release()
        let (taken, wasReleased) = try await second.value
        #expect(wasReleased)
        try await taken.requireHeld()
    }

    @Test func `who waits for a lease takes it only if its holder leaves no answer`() async throws {
        let scene = try scene()
        var options = scene.store.options
        // Other tests ask the same server.
        options.program = "waiter-\(UUID())"
        let other = try await TokenStore.open(at: scene.store.location, options: options)
        let first = try await lock(scene.store, scene.account)
        let answer = LockedValue<Int?>(nil)
        let asked = LockedValue(0)
        let wait: @Sendable () async throws -> RefreshWait<Int> = {
            try await other.refreshLock(of: scene.account, for: .client(OpenScene.client), patience: .seconds(60)) {
                asked.withLock { $0 += 1 }
                return answer.withLock(\.self)
            }
        }
        let second = Task { try await wait() }
        try await waitUntilOneLooks(named: options.program, scene.store)
        answer.withLock { $0 = 7 }
        #expect(asked.withLock(\.self) == 0)
        await first.release()
        guard case .answered(7) = try await second.value else {
            Issue.record("the lease was taken")
            return
        }
        // Nobody had it a second time.
        #expect(try fence(scene.store) == 1)
        // Nobody else has it, so that nothing is asked.
        guard case .right(let third) = try await wait() else {
            Issue.record("the lease was not taken")
            return
        }
        #expect(try fence(scene.store) == 2)
        answer.withLock { $0 = nil }
        let fourth = Task { try await wait() }
        try await third.requireHeld()
        await third.release()
        guard case .right(let taken) = try await fourth.value else {
            Issue.record("the lease was not taken")
            return
        }
        try await taken.requireHeld()
    }

    @Test func `a lease whose process is gone from this machine is taken over at once`() async throws {
        let scene = try scene()
        let first = try await lock(scene.store, scene.account)
        // No process has the number that Linux never gives.
        try scene.store.withWriter {
            // Nobody waits for the end of such a lease.
            let end = "statement_timestamp() + interval '50 seconds'"
            try $0.connection.execute("UPDATE refresh_lease SET process_id = 4194305, ends_at = \(end)")
        }
        let second = try await lock(another(scene), scene.account)
        try await second.requireHeld()
        withExtendedLifetime(first) {}
    }

    @Test(arguments: [
        ("'-infinity'", false), ("statement_timestamp() - interval '1 hour'", false),
        ("statement_timestamp()", true), ("statement_timestamp() - interval '1 minute'", true),
    ])
    func `a lease that has just ended and was not given back is taken after a while`(
        end: String,
        isWaitedFor: Bool
    ) async throws {
        let scene = try scene()
        // Nobody renews it.
        let first = try await lock(scene.store, scene.account, patience: .zero)
        try setLeaseEnd(end, scene.store)
        let start = ContinuousClock.now
        let second = try await lock(another(scene), scene.account)
        #expect(second.wasWaitedFor == isWaitedFor)
        #expect(!isWaitedFor || ContinuousClock.now - start >= .seconds(3))
        try await second.requireHeld()
        await first.release()
        // What the first gives back is not the second's.
        try await second.requireHeld()
        #expect(try fence(scene.store) == 2)
    }

    @Test func `a lease that ended while its holder could not renew it is still the holder's`() async throws {
        let scene = try scene()
        let first = try await lock(scene.store, scene.account)
        try setLeaseEnd("statement_timestamp() - interval '10 seconds'", scene.store)
        let other = try await another(scene)
        let second = Task { try await lock(other, scene.account) }
        // The holder renews it each two seconds.
        let limit = ContinuousClock.now + .seconds(5)
        while ContinuousClock.now < limit, try fence(scene.store) == 1 { try await Task.sleep(for: .milliseconds(50)) }
        #expect(try fence(scene.store) == 1)
        try await first.requireHeld()
        await first.release()
        #expect(try await second.value.wasWaitedFor)
    }

    @Test func `a lease that was given back is not renewed any more`() async throws {
        let scene = try scene()
        let first = try await lock(scene.store, scene.account)
        await first.release()
        // Only one that may have ended by the clock of its holder is asked for, and begins anew.
        try await Task.sleep(for: .seconds(6))
        await #expect(throws: TokenStoreError.self) { try await first.requireHeld() }
        let second = try await lock(another(scene), scene.account)
        #expect(!second.wasWaitedFor)
        await second.release()
    }

    @Test func `a lease is taken also where its number has no next`() async throws {
        let scene = try scene()
        let first = try await lock(scene.store, scene.account)
        try scene.store.withWriter {
            try $0.connection.execute("UPDATE refresh_lease SET fence = 9223372036854775807")
        }
        await first.release()
        let second = try await lock(another(scene), scene.account)
        try await second.requireHeld()
        #expect(try fence(scene.store) == 1)
    }

    @Test func `a sign-out has given its leases back when it returns`() async throws {
        let scene = try scene()
        // Another client keeps the account, and with it the rows of its leases.
        var response = TokenResponse(accessToken: Secret("at-1"), expiresIn: .seconds(3_600))
        response.idToken = Secret(scene.idToken(at: scene.clock.seconds))
        let request = TokenRequest(
            clientID: "other",
            authority: try scene.authority,
            scope: "read",
            grant: .authorizationCode
        )
        try await scene.store.save(response, for: request)
        try await scene.manager().signOut(scene.account)
        let held: StaticString = "SELECT count(*) FROM refresh_lease WHERE ends_at > clock_timestamp()"
        #expect(try scene.store.read { try $0.connection.integer(held) } == 0)
        #expect(try fence(scene.store) != nil)
    }

    @Test func `who has an answer keeps the right to refresh for as long as it may wait`() async throws {
        let scene = try scene()
        let lock = try await scene.store.refreshLock(
            of: scene.account,
            for: .client(OpenScene.client),
            patience: .zero
        )
        lock.lastForAnswer()
        let taken = try leaseEnd(scene.store)
        let limit = ContinuousClock.now + .seconds(60)
        while try leaseEnd(scene.store) == taken, ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(ContinuousClock.now < limit)
        await lock.release()
    }

    /// Has the lease end then, whose holder is a process of another machine.
    private func setLeaseEnd(_ end: String, _ store: TokenStore) throws {
        try store.withWriter {
            try $0.connection.execute("UPDATE refresh_lease SET ends_at = \(end), host = 'elsewhere'")
        }
    }

    private func leaseEnd(_ store: TokenStore) throws -> Int64? {
        try store.read {
            try $0.connection.integer(
                "SELECT CAST(extract(epoch FROM max(ends_at)) * 1000 AS bigint) FROM refresh_lease"
            )
        }
    }

    private func fence(_ store: TokenStore) throws -> Int64? {
        try store.read { try $0.connection.integer("SELECT max(fence) FROM refresh_lease") }
    }

    /// Waits until the latest question of a session of the program is whether the lease is held.
    private func waitUntilOneLooks(named program: String, _ store: TokenStore) async throws {
        let question = """
            SELECT count(*) FROM pg_stat_activity
            WHERE application_name = $1 AND state = 'idle' AND query LIKE 'SELECT a.id, l.holder%'
            """
        while try store.read({ try $0.connection.prepare(question).first([.text(program)]) { $0.integer(0) } }) == 0 {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
