import Database
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Changes that are told to one node while others write.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerChangesTests {
    @Test func `every sign-in on every node is told once, also behind a transaction that takes long`() async throws {
        let scene = try ServerScene()
        try scene.create()
        let nodes = try await [scene.openLater(), scene.openLater(), scene.openLater()]
        try await nodes[0].save(ServerScene.response("before", token: "a"), for: ServerScene.request())
        // Its number is lower than those of all that follow.
        let slow = try scene.server.connect()
        try slow.execute("SET idle_in_transaction_session_timeout = 0; BEGIN; SELECT pg_current_xact_id()")
        var changes = try await nodes[0].changes().makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                let node = nodes[number % 3]
                group.addTask {
                    try await node.save(ServerScene.response("u\(number)", token: "a"), for: ServerScene.request())
                }
            }
            try await group.waitForAll()
        }
        try slow.execute("COMMIT")
        var told: [String] = []
        for _ in 0..<60 {
            guard case .signedIn(let id)? = await changes.next(isolation: nil) else { break }
            told.append(id.homeAccountID)
        }
        #expect(Set(told).count == 60)
        #expect(!told.contains("before.t1"))
        try await nodes[1].save(ServerScene.response("last", token: "a"), for: ServerScene.request())
        guard case .signedIn(let last)? = await changes.next(isolation: nil) else {
            Issue.record("a change was told twice")
            return
        }
        #expect(last.homeAccountID == "last.t1")
    }

    @Test func `changes go on after the connections were lost`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let scene = try ServerScene(on: server)
        try scene.create()
        let (store, other) = (try await scene.openLater(), try await scene.openLater())
        var changes = try await store.changes().makeAsyncIterator()
        try server.connect().execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
            """
        )
        try await other.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        guard case .signedIn(let id)? = await changes.next(isolation: nil) else {
            Issue.record("the change was missed")
            return
        }
        #expect(id.homeAccountID == "u1.t1")
    }

    @Test(.disabled(if: TestCluster.isWanted, "several machines do not say which transactions they see"))
    func `a transaction that is left open in any database keeps no change from being told`() async throws {
        let scene = try ServerScene()
        try scene.create()
        let (store, other) = (try await scene.openLater(), try await scene.openLater())
        // Its number is lower than those of all that follow.
        let forgotten = try scene.server.connect()
        try forgotten.execute("SET idle_in_transaction_session_timeout = 0; BEGIN; SELECT pg_current_xact_id()")
        let changes = try await store.changes()
        let told = Task { () -> [StoreChange] in
            var told: [StoreChange] = []
            for await change in changes {
                told.append(change)
                if told.count == 2 { break }
            }
            return told
        }
        let limit = Task {
            try await Task.sleep(for: .seconds(30))
            told.cancel()
        }
        for subject in ["u1", "u2"] {
            try await other.save(ServerScene.response(subject, token: "a"), for: ServerScene.request())
        }
        let expected = try await store.accounts().map { StoreChange.signedIn($0.id) }
        let found = await told.value
        limit.cancel()
        try forgotten.execute("ROLLBACK")
        #expect(found.count == 2)
        #expect(Set(found) == Set(expected))
    }

    @Test func `300 subscribers are told, and keep no other call from its thread`() async throws {
        let scene = try ServerScene()
        try scene.create()
        let store = try await scene.openLater()
        let streams = LockedValue<[AsyncStream<StoreChange>]>([])
        // Those of a call that waits for ever would take its thread from other tests.
        defer { streams.withLock { $0 = [] } }
        let outcome = LockedValue<Result<[Account.ID], any Error>?>(nil)
        let calls = Task {
            do {
                for _ in 0..<300 {
                    let changes = try await store.changes()
                    streams.withLock { $0.append(changes) }
                }
                try await store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
                let found = try await store.accounts().map(\.id)
                outcome.withLock { $0 = .success(found) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        }
        defer { calls.cancel() }
        try await eventually { outcome.withLock { $0 != nil } }
        let account = try #require(try outcome.withLock(\.self)?.get().first)
        for changes in streams.withLock(\.self) { #expect(await changes.first { _ in true } == .signedIn(account)) }
    }

    @Test func `who cannot subscribe while the server is away leaves other subscribers waiting`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        var scene = try ServerScene(on: server)
        try scene.create()
        scene.options.busyTimeout = .seconds(2)
        let store = try await scene.openLater()
        let changes = try await store.changes()
        server.stop()
        let error = await #expect(throws: TokenStoreError.self) { _ = try await store.changes() }
        #expect(error?.code == .unreachable)
        #expect(store.changeReader.signal != nil)
        withExtendedLifetime(changes) {}
    }

    @Test func `all subscribers of a store that is gone come to an end`() async throws {
        let scene = try ServerScene()
        try scene.create()
        let store = try await scene.openLater()
        let streams = [try await store.changes(), try await store.changes(about: Fixture.account)]
        try scene.sql("DROP SCHEMA \(scene.schema) CASCADE")
        for changes in streams { #expect(await changes.first { $0 != .many } == nil) }
        await #expect(throws: TokenStoreError.self) { _ = try await store.changes() }
        try await eventually { store.changeReader.signal == nil }
    }

    @Test func `a server that numbers transactions anew makes everything news`() throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        let cursor = try store.read { try $0.eventCursor() }
        // As another cluster into which a dump was restored, and a standby that was promoted.
        var (restored, promoted) = (cursor, cursor)
        restored.next += 1_000_000
        promoted.timeline += 1
        for (cursor, areMany) in [(cursor, false), (restored, true), (promoted, true)] {
            let found = try store.read { try $0.events(from: cursor) }
            #expect(found.areMany == areMany)
            #expect(found.events == [])
            #expect(try !store.read { try $0.events(from: found.cursor).areMany })
        }
    }
}
