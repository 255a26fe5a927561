import Database
import Foundation
import OAuth
import PostgreSQL
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What one node decides while the transaction of another is open, and has changed what the decision hangs on.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerOverlapTests {
    /// What ends in vain; longer than a server of a busy machine needs for an answer.
    private static let patience = Duration.seconds(10)

    private struct Scene: Sendable {
        var scene: ServerScene
        let clock = TestClock()
        let nodes: [TokenStore]

        init() throws {
            scene = try ServerScene()
            scene.options.now = { [clock] in clock.date }
            // By this name the server tells its sessions from those of other tests.
            scene.options.program = scene.schema
            try scene.create()
            nodes = try [scene.open(), scene.open()]
        }

        @discardableResult
        func signIn(_ subject: String = "u1") throws -> Account.ID {
            let saved = try nodes[0].save(ServerScene.response(subject, token: "a"), for: ServerScene.request())
            return try #require(saved.account)
        }

        /// Runs `second` from when `first` has done its work in a transaction of the first node, which ends when the
        /// second waits for it, or is over.
        func overlap<Result: Sendable>(
            _ first: @escaping @Sendable (StoreConnection) throws -> Void,
            with second: @escaping @Sendable (TokenStore) async throws -> Result
        ) async throws -> Result {
            let begun = AsyncStream<Void>.makeStream()
            let isOver = LockedValue(false)
            async let result = {
                for await _ in begun.stream { break }
                defer { isOver.withLock { $0 = true } }
                return try await second(nodes[1])
            }()
            try await nodes[0].perform { node in
                let watcher = try scene.server.connect()
                try node.write { session in
                    try first(session)
                    repeat {
                        // All that was sent is done when the server answers, which ends a transaction that is idle.
                        _ = try session.connection.integer("SELECT 1")
                        begun.continuation.yield()
                        usleep(1_000)
                    } while try !isOver.withLock(\.self) && !isWaiting(watcher)
                }
            }
            return try await result
        }

        private func isWaiting(_ watcher: PostgreSQL.Connection) throws -> Bool {
            // The machines of a cluster do not tell whose session waits on another.
            let waiting =
                TestCluster.isWanted
                ? "citus_lock_waits"
                : "pg_stat_activity WHERE application_name = '\(scene.schema)' AND wait_event_type = 'Lock'"
            return try watcher.prepare("SELECT 1 FROM \(waiting)").first([]) { _ in true } ?? false
        }
    }

    @Test func `a purge of unused accounts spares one that is signed in to meanwhile`() async throws {
        let scene = try Scene()
        let account = try scene.signIn()
        try scene.signIn("u2")
        let limit = scene.clock.date.addingTimeInterval(500)
        scene.clock.seconds += 1_000
        let counts = try await scene.overlap {
            _ = try $0.save(ServerScene.response("u1", token: "b"), for: ServerScene.request())
        } with: {
            try await $0.purge(.unused(since: limit))
        }
        #expect(counts.accounts == 1)
        #expect(try await scene.nodes[0].accounts().map(\.id) == [account])
        #expect(try await scene.nodes[0].refreshTokens(of: account, client: "cid").map(\.secret) == [Secret("r-b")])
    }

    @Test func `a purge of expired tokens does not count what another node deletes`() async throws {
        let scene = try Scene()
        try scene.signIn()
        scene.clock.seconds += 100_000
        let counts = try await scene.overlap {
            let count = try $0.deleteExpiredAccessTokens()
            #expect(count == 1)
        } with: {
            try await $0.purgeExpired()
        }
        #expect(counts == PurgeCounts())
        #expect(try scene.scene.count("SELECT count(*) FROM event WHERE kind = 'purge'") == 0)
    }

    @Test func `a store is not moved away from a refresh that begins meanwhile`() async throws {
        let scene = try Scene()
        let account = try scene.signIn()
        let token = try #require(try await scene.nodes[0].refreshTokens(of: account, client: "cid").first)
        let target = StoreLocation(StorePath(scene.scene.directory.file("copy/tokenstore.db")))
        var reading = scene.scene.options
        reading.busyTimeout = Self.patience
        let error = await #expect(throws: TokenStoreError.self) {
            try await scene.overlap { session in
                let row = try #require(try session.accountRow(account))
                try session.writeAttempt(token, account: row, outcome: nil)
            } with: { [reading] node in
                let location = node.location
                _ = try await node.perform { _ in
                    try TokenStore.copy(
                        from: location,
                        to: target,
                        reading: reading,
                        writing: TestStore.options(TestClock())
                    )
                }
            }
        }
        #expect(error?.code == .busy)
        #expect(error?.problem.contains("are being refreshed") == true, "\(error?.problem ?? "")")
        try await scene.nodes[1].setDefaultAccount(account)
    }

    @Test(arguments: [
        "UPDATE refresh_lease SET ends_at = '-infinity'", "UPDATE refresh_lease SET process_id = 4194305",
    ])
    func `a store is not moved away from an answer that waits to be let in`(ending: String) async throws {
        let scene = try Scene()
        let account = try scene.signIn()
        let token = try #require(try await scene.nodes[0].refreshTokens(of: account, client: "cid").first)
        let lock = try await scene.nodes[0].refreshLock(of: account, for: .client("cid"), patience: .seconds(5))
        _ = try await scene.nodes[0].perform { try $0.beginRefresh(with: token) }
        // The program was cut off, and cannot renew its lease.
        try scene.scene.sql("UPDATE refresh_lease SET ends_at = clock_timestamp() - interval '70 seconds'")
        scene.clock.seconds += 70
        let target = StoreLocation(StorePath(scene.scene.directory.file("copy/tokenstore.db")))
        var reading = scene.scene.options
        func move(waiting time: Duration) async throws {
            let location = scene.nodes[1].location
            reading.busyTimeout = time
            _ = try await scene.nodes[1].perform { [reading] _ in
                try TokenStore.copy(
                    from: location,
                    to: target,
                    reading: reading,
                    writing: TestStore.options(TestClock())
                )
            }
        }
        let error = await #expect(throws: TokenStoreError.self) { try await move(waiting: Self.patience) }
        #expect(error?.problem.contains("are being refreshed") == true, "\(error?.problem ?? "")")
        try scene.scene.sql(ending)
        try await move(waiting: .seconds(60))
        await lock.release()
    }

    @Test func `of two accounts that are removed at once an imported record keeps neither`() async throws {
        let scene = try Scene()
        let accounts = try ["u1", "u2", "u3"].map { try scene.signIn($0) }
        let record: JSONValue = [
            "client_id": "cid",
            "account_metadata_map": [
                "u1.t1": ["sign_in_state": "signed_in"], "u2.t1": ["sign_in_state": "signed_in"],
                "u3.t1": ["sign_in_state": "signed_in"],
            ],
        ]
        let document: JSONValue = ["AccountMetadataMap": ["cid": record]]
        _ = try await scene.nodes[0].perform { try $0.take(document.serialized, isKnownFormat: true) }
        try await scene.overlap {
            try $0.deleteUnrecognizedEntries(of: [accounts[0]])
        } with: {
            _ = try await $0.removeAccount(accounts[1])
        }
        let kept = try await scene.nodes[0].perform { try $0.exported() }["AccountMetadataMap"]["cid"]
        #expect(kept["account_metadata_map"].object?.members.map { $0.name } == ["u3.t1"])
    }

    @Test func `what two nodes learn of a client at once is kept together`() async throws {
        let scene = try Scene()
        try scene.signIn()
        let host = "login.microsoftonline.com"
        try await scene.overlap {
            _ = try $0.saveAppMetadata(client: "cid", environment: host, family: "1", extra: .init([("a", 1)]))
        } with: { node in
            try await node.perform { store in
                try store.write {
                    _ = try $0.saveAppMetadata(client: "cid", environment: host, family: "1", extra: .init([("b", 2)]))
                }
            }
        }
        let document = try await scene.nodes[0].perform { try $0.exported() }
        let metadata = try #require(document["AppMetadata"].object?.members.first?.value)
        #expect(metadata["a"] == 1)
        #expect(metadata["b"] == 2)
        #expect(metadata["family_id"] == "1")
    }

    @Test func `a lease on an account that is deleted meanwhile says that there is none`() async throws {
        let scene = try Scene()
        let account = try scene.signIn()
        let lock = try await scene.overlap { session in
            try session.deleteAccount(try #require(try session.accountRow(account)))
        } with: {
            try await $0.refreshLock(of: account, for: .client("cid"), patience: .seconds(10))
        }
        #expect(!lock.wasWaitedFor)
        #expect(try scene.scene.count("SELECT count(*) FROM refresh_lease") == 0)
        await lock.release()
    }
}
