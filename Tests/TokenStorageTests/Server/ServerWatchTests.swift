import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What one node keeps in memory while others write.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerWatchTests {
    /// A store whose token for an account is in memory.
    private struct Node {
        let store: TokenStore
        let query: TokenQuery

        init(_ store: TokenStore, subject: String = "u1") async throws {
            self.store = store
            let account = try #require(try await store.accounts().first { $0.id.homeAccountID == subject + ".t1" })
            query = TokenQuery(account: account.id, clientID: "cid", scope: "s1")
        }

        /// Looks the token up until it is served without a question to the server.
        func remember() async throws {
            try await eventually {
                guard case .usable = try await store.cachedToken(for: query) else { return false }
                return store.tokenInMemory(for: query) != nil
            }
        }

        func isServed() async throws -> Bool {
            guard case .usable = try await store.cachedToken(for: query) else { return false }
            return true
        }

        /// How long the token is still served: until the last question that was answered with it.
        ///
        /// A busy machine may take its time with each question.
        func serves() async throws -> Duration {
            let start = ContinuousClock.now
            var (question, last) = (start, start)
            try await eventually {
                question = .now
                guard try await isServed() else { return true }
                last = question
                return false
            }
            return last - start
        }
    }

    /// Waits until something is so.
    private static let limit = Duration.milliseconds(2_100)

    private func scene(on server: TestServer? = nil, users: Int = 1) async throws -> ServerScene {
        var scene = try ServerScene(on: server)
        scene.options.staleness = .seconds(2)
        try scene.create()
        let store = try await scene.openLater()
        for number in 1...users {
            try await store.save(ServerScene.response("u\(number)", token: "a"), for: ServerScene.request())
        }
        return scene
    }

    /// The session whose last statement was one of a look at what was committed.
    private static let isWatching = """
        pid <> pg_backend_pid() AND (query LIKE '%AS oldest' OR query LIKE 'SELECT e.id, a.authority%')
        """

    @Test func `a sign-out on another node ends what is served from memory`() async throws {
        let scene = try await scene()
        let node = try await Node(scene.openLater())
        try await node.remember()
        try await scene.openLater().removeAccount(node.query.account)
        #expect(try await node.serves() < Self.limit)
        #expect(node.store.tokenInMemory(for: node.query) == nil)
    }

    @Test func `a sign-out of this process counts at once`() async throws {
        let scene = try await scene()
        let node = try await Node(scene.openLater())
        try await node.remember()
        try await node.store.removeAccount(node.query.account)
        #expect(try await !node.isServed())
    }

    @Test func `a commit that nobody announced is noticed in time`() async throws {
        let scene = try await scene()
        let node = try await Node(scene.openLater())
        try await node.remember()
        try scene.sql(
            """
            DELETE FROM access_token; DELETE FROM refresh_token;
            INSERT INTO event (account_id, id, at, program, process_id, kind, outcome)
            SELECT id, 7, 0, 'lost', 1, 'sign_out', 'done' FROM account
            """
        )
        #expect(try await node.serves() < Self.limit)
    }

    @Test(.disabled(if: TestCluster.isWanted, "each machine of a cluster has numbers of its own"))
    func `entries of a time to come empty no memory`() async throws {
        let scene = try await scene()
        // As a store has that was restored into a new cluster.
        try scene.sql(
            """
            INSERT INTO event (account_id, id, tx, at, program, process_id, kind, outcome)
            SELECT 0, n, '900000000000'::xid8, 0, 'restored', 1, 'sign_in', 'done' FROM generate_series(1, 2100) n
            """
        )
        let node = try await Node(scene.openLater())
        try await eventually {
            try await node.remember()
            let end = ContinuousClock.now + .milliseconds(1_500)
            while node.store.tokenInMemory(for: node.query) != nil {
                guard ContinuousClock.now < end else { return true }
                try await Task.sleep(for: .milliseconds(10))
            }
            return false
        }
    }

    @Test func `nothing is served from memory while the server is silent to the one who listens`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let scene = try await scene(on: server)
        let node = try await Node(scene.openLater())
        try await node.remember()
        var listener: Int64 = 0
        try await eventually {
            listener = try scene.count("SELECT max(pid) FROM pg_stat_activity WHERE " + Self.isWatching)
            return listener > 0
        }
        try await node.remember()
        Foundation.kill(Int32(listener), SIGSTOP)
        defer { Foundation.kill(Int32(listener), SIGCONT) }
        try await scene.openLater().removeAccount(node.query.account)
        #expect(try await node.serves() < Self.limit)
    }

    @Test func `a node that lost its connection begins anew`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let scene = try await scene(on: server)
        let node = try await Node(scene.openLater())
        try await node.remember()
        try server.connect().execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
            """
        )
        try await node.remember()
        try await scene.openLater().removeAccount(node.query.account)
        #expect(try await node.serves() < Self.limit)
    }

    @Test func `accounts whose rows would have one id are not mistaken for each other`() async throws {
        var scene = try ServerScene()
        (scene.options.staleness, scene.options.accountRowMask) = (.seconds(2), 0)
        try scene.create()
        let store = try await scene.openLater()
        for subject in ["u1", "u2"] {
            try await store.save(ServerScene.response(subject, token: "a"), for: ServerScene.request())
        }
        let (first, second) = (try await Node(store), try await Node(store, subject: "u2"))
        try await first.remember()
        try await second.remember()
        try await scene.openLater().removeAccount(second.query.account)
        #expect(try await second.serves() < Self.limit)
        #expect(try await first.isServed())
    }

    @Test func `without staleness every lookup asks the server, and nobody listens`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        var scene = try await scene(on: server)
        scene.options.staleness = .zero
        let node = try await Node(scene.openLater())
        for _ in 0..<10 { #expect(try await node.isServed()) }
        #expect(node.store.tokenInMemory(for: node.query) == nil)
        #expect(try scene.count("SELECT count(*) FROM pg_stat_activity WHERE " + Self.isWatching) == 0)
    }

    @Test func `a program that asks once or twice opens no connection to listen`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let scene = try await scene(on: server)
        let node = try await Node(scene.openLater())
        for _ in 0..<3 { #expect(try await node.isServed()) }
        #expect(try scene.count("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'") == 0)
    }
}

/// A store behind a pooler that gives each transaction another session.
@Suite(
    .onWaitingThreads,
    .ifServerIsInstalled,
    .enabled(if: Bouncer.program != nil, "pgbouncer is installed")
)
struct ServerPoolerTests {
    @Test(arguments: ["", "options"])
    func `a pooler that the address does not name is named when the store is opened`(ignored: String) throws {
        let scene = try ServerScene()
        try scene.create()
        let bouncer = try Bouncer(scene.server, ignoring: ignored, sessions: 1)
        let location = StoreLocation(try bouncer.address("", schema: scene.schema))
        let errors = (0..<2).map { _ in
            #expect(throws: TokenStoreError.self) { _ = try TokenStore.open(at: location, options: scene.options) }
        }
        #expect(errors.map { $0?.code } == [.invalidArgument, .invalidArgument])
        let words = errors.map { ($0?.problem ?? "") + ($0?.remedy?.advice ?? "") }
        #expect(words[0].contains("pooler=transaction"))
        #expect(words[0] == words[1])
        // Nothing stays in the session, which other clients of the pooler get.
        #expect(try bouncer.connect().integer("SELECT count(*) FROM pg_prepared_statements") == 0)
    }

    @Test func `a store behind a pooler serves, refreshes memory and tells changes`() async throws {
        var scene = try ServerScene()
        scene.options.staleness = .milliseconds(500)
        try scene.create()
        let bouncer = try Bouncer(scene.server)
        let location = StoreLocation(try bouncer.address(schema: scene.schema))
        let store = try await TokenStore.open(at: location, options: scene.options)
        let other = try await TokenStore.open(at: location, options: scene.options)
        var changes = try await store.changes().makeAsyncIterator()
        try await other.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let account = try #require(try await store.accounts().first?.id)
        #expect(await changes.next(isolation: nil) == .signedIn(account))
        let query = TokenQuery(account: account, clientID: "cid", scope: "s1")
        let end = ContinuousClock.now + .seconds(60)
        while store.tokenInMemory(for: query) == nil {
            try #require(ContinuousClock.now < end)
            guard case .usable = try await store.cachedToken(for: query) else { break }
        }
        try await other.removeAccount(account)
        #expect(await changes.next(isolation: nil) == .signedOut(account))
        while case .usable = try await store.cachedToken(for: query) { try #require(ContinuousClock.now < end) }
        #expect(try await store.check() == [])
    }

    @Test func `a server that takes another's place behind a pooler is noticed on the same connection`() async throws {
        let primary = try TestServer()
        let standby = try TestServer(following: primary)
        defer {
            primary.stop()
            standby.stop()
        }
        var scene = try ServerScene(on: primary)
        scene.options.staleness = .milliseconds(500)
        try scene.create()
        let bouncer = try Bouncer(primary)
        let location = StoreLocation(try bouncer.address(schema: scene.schema))
        let store = try await TokenStore.open(at: location, options: scene.options)
        try await store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let query = TokenQuery(
            account: try #require(try await store.accounts().first?.id),
            clientID: "cid",
            scope: "s1"
        )
        let state = "SELECT count(*) FROM pg_stat_replication"
        try await eventually { try scene.count(state + " WHERE replay_lsn >= pg_current_wal_lsn()") == 1 }
        // From here on the standby misses numbers of transactions, which it gives again.
        let follower = try standby.connect("&target_session_attrs=any")
        try follower.execute("ALTER SYSTEM SET primary_conninfo = ''; SELECT pg_reload_conf()")
        try await eventually { try scene.count(state) == 0 }
        try primary.connect().execute(String(repeating: "SELECT pg_current_xact_id(); ", count: 1_000))
        let start = ContinuousClock.now
        try await eventually {
            guard case .usable = try await store.cachedToken(for: query) else { return false }
            return store.tokenInMemory(for: query) != nil && ContinuousClock.now - start > .seconds(2)
        }
        try follower.execute("SELECT pg_promote()")
        let place = StoreLocation(try standby.address(schema: scene.schema))
        try await TokenStore.open(at: place, options: scene.options).removeAccount(query.account)
        try bouncer.lead(to: standby)
        try await eventually {
            guard case .usable = try await store.cachedToken(for: query) else { return true }
            return false
        }
        // Until here the pooler is needed.
        withExtendedLifetime(bouncer) {}
    }
}
