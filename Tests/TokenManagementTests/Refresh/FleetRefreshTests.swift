import Database
import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import TestSupport
import Testing
import TokenManagement
import TokenStorage

/// One refresh in a fleet whose store is on a server.
@Suite(.enabled(if: TestServer.isInstalled, "PostgreSQL and libpq5 are installed"))
struct FleetRefreshTests {
    private func scene() throws -> OpenScene { try StoreEngine.$current.withValue(.server) { try OpenScene() } }

    private func lock(_ store: TokenStore, _ account: Account.ID) async throws -> RefreshLock {
        try await store.refreshLock(of: account, for: .client(OpenScene.client), patience: .seconds(60))
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

    @Test func `a lease that was not renewed ends by the server's clock`() async throws {
        let scene = try scene()
        let first = try await lock(scene.store, scene.account)
        try scene.store.withWriter {
            try $0.connection.execute("UPDATE refresh_lease SET ends_at = statement_timestamp(), host = 'elsewhere'")
        }
        let second = try await lock(another(scene), scene.account)
        try await second.requireHeld()
        await first.release()
        // What the first gives back is not the second's.
        try await second.requireHeld()
    }

    /// What keeps a server from taking a refresh token.
    enum Trouble: CaseIterable {
        case locked, full, starting

        /// Rows that are spread over machines have no triggers.
        static let here = TestCluster.isWanted ? [Trouble.locked] : allCases

        /// Makes the trouble, calls `body`, and ends it.
        func last(on connection: Connection, _ body: () -> Void) throws {
            guard self != .locked else {
                return try connection.write {
                    try connection.execute("LOCK TABLE refresh_token IN ACCESS EXCLUSIVE MODE")
                    _ = try connection.integer("SELECT count(*) FROM refresh_token")
                    body()
                }
            }
            let condition = self == .full ? "disk_full" : "cannot_connect_now"
            try connection.write {
                try connection.execute(
                    """
                    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                        $$ BEGIN RAISE EXCEPTION 'a test' USING ERRCODE = '\(condition)'; END $$;
                    CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON refresh_token EXECUTE FUNCTION fail()
                    """
                )
            }
            body()
            try connection.write {
                try connection.execute("DROP TRIGGER fail ON refresh_token; DROP FUNCTION fail()")
            }
        }
    }

    /// A refresh whose answer meets a server in trouble.
    private final class TroubledRefresh: Sendable {
        private static let busyTimeout = Duration.seconds(1)

        private let scene: OpenScene
        private let isOver = LockedValue(false)
        let store: TokenStore

        init(_ scene: OpenScene, waiting patience: Duration? = nil) async throws {
            self.scene = scene
            scene.issuer.answer(.init(#"{"access_token":"at-1","refresh_token":"rt-1","expires_in":3600}"#))
            scene.clock.seconds += 3_700
            var options = scene.store.options
            options.busyTimeout = Self.busyTimeout
            options.serverAnswerWait = patience ?? options.serverAnswerWait
            store = try await TokenStore.open(at: scene.store.location, options: options)
        }

        /// The trouble begins with the request, and lasts until it is ended.
        func run(in trouble: Trouble) async throws -> Secret {
            let transport = InterceptingTransport(Scene.transport) { [self] request in
                guard request.url.hasSuffix("/token") else { return }
                let hasBegun = LockedValue(false)
                Task {
                    try await scene.store.perform { store in
                        try store.withWriter { session in
                            try trouble.last(on: session.connection) {
                                hasBegun.withLock { $0 = true }
                                while !self.isOver.withLock(\.self) { Thread.sleep(forTimeInterval: 0.01) }
                            }
                        }
                    }
                }
                while !hasBegun.withLock(\.self) { try await Task.sleep(for: .milliseconds(5)) }
            }
            let manager = TokenManager(store: store, clientID: OpenScene.client, transport: transport)
            var request = SilentRequest(account: scene.account, scope: "read")
            request.timeout = .seconds(120)
            return try await manager.acquireTokenSilently(request).accessToken.secret
        }

        /// Ends the trouble, after `time` once the issuer has answered.
        func end(after time: Duration = .zero) async throws {
            while time > .zero, scene.tokenRequestCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
            try await Task.sleep(for: time)
            isOver.withLock { $0 = true }
        }
    }

    @Test(arguments: Trouble.here)
    func `the answer to a refresh waits for a server that cannot take it yet`(trouble: Trouble) async throws {
        let scene = try scene()
        let refresh = try await TroubledRefresh(scene)
        async let token = refresh.run(in: trouble)
        // Longer than anything else waits for the server.
        try await refresh.end(after: .seconds(2))
        #expect(try await token == Secret("at-1"))
        #expect(scene.tokenRequestCount == 1)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }

    @Test(arguments: Trouble.here)
    func `an answer that waits no longer is given back`(trouble: Trouble) async throws {
        let refresh = try await TroubledRefresh(scene(), waiting: .zero)
        let error = await #expect(throws: TokenStoreError.self) { _ = try await refresh.run(in: trouble) }
        try await refresh.end()
        #expect(error?.code == .notStored)
        #expect(error?.response?.refreshToken == Secret("rt-1"))
    }

    @Test(.enabled(if: !TestCluster.isWanted, "rows that are spread over machines have no triggers"))
    func `while an answer waits, the store says what for`() async throws {
        let refresh = try await TroubledRefresh(scene())
        try refresh.store.requireNoHolder()
        async let token = refresh.run(in: .starting)
        var reason: TokenStoreError?
        while reason == nil {
            try await Task.sleep(for: .milliseconds(5))
            do { try refresh.store.requireNoHolder() } catch let error as TokenStoreError { reason = error }
        }
        #expect(reason?.code == .unreachable)
        #expect(reason?.problem.contains("a test") == true)
        try await refresh.end()
        #expect(try await token == Secret("at-1"))
        try refresh.store.requireNoHolder()
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
            SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT l.host%' AND application_name = $1
            """
        while try store.read({ try $0.connection.prepare(question).first([.text(program)]) { $0.integer(0) } }) == 0 {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
