import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What goes from a server by itself.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct JanitorTests {
    private static let day: Int64 = 86_400

    /// A store with rows of all ages.
    private func scene() throws -> ServerScene {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let store = try scene.open()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let now = scene.options.seconds
        try scene.sql(
            """
            INSERT INTO event (account_id, id, at, program, process_id, kind, outcome)
            SELECT 0, n, \(now) - n * \(Self.day / 30), 'old', 1, 'purge', 'done' FROM generate_series(1, 1500) n;
            INSERT INTO issuer_document (id, url, document, fetched_at, ends_at)
            SELECT n, 'u' || n, '{}', 0, \(now) - 6000 + n * 2000 FROM generate_series(1, 4) n;
            INSERT INTO throttle (account_id, id, key, client_fold, ends_at, failure)
            SELECT a.id, n, decode(lpad(to_hex(n), 4, '0'), 'hex'), 'cid', \(now) - 9000 + n * 5000, '{}'
            FROM account a, generate_series(1, 4) n
            """
        )
        try scene.sql(
            """
            CREATE TEMP TABLE copies AS SELECT * FROM access_token;
            UPDATE copies SET id = 1, expires_on = \(now - 8 * Self.day), extended_expires_on = NULL;
            INSERT INTO access_token SELECT * FROM copies;
            UPDATE copies SET id = 2, extended_expires_on = \(now - Self.day);
            INSERT INTO access_token SELECT * FROM copies;
            UPDATE copies SET id = 3, expires_on = \(now - 6 * Self.day), extended_expires_on = NULL;
            INSERT INTO access_token SELECT * FROM copies
            """
        )
        return scene
    }

    @Test func `what has served its time goes, and nothing else`() throws {
        let scene = try scene()
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: scene.options)
        // 600 entries of 30 days and older, one document, one wait that ended and one that no program began, one token.
        #expect(try store.tidy() == 600 + 1 + 2 + 1)
        #expect(try store.tidy() == 0)
        #expect(try scene.count("SELECT count(*) FROM event WHERE program = 'old'") == 900)
        #expect(try scene.count("SELECT count(*) FROM issuer_document") == 3)
        #expect(try scene.count("SELECT count(*) FROM throttle") == 2)
        #expect(try scene.count("SELECT count(*) FROM access_token") == 3)
        #expect(try scene.count("SELECT count(*) FROM access_token WHERE id = 1") == 0)
    }

    @Test func `a program that closes its store does not end in the middle of the work`() throws {
        let scene = try scene()
        var options = scene.options
        options.janitorChance = 1
        let store = try TokenStore.open(at: scene.location(as: "trusted"), options: options)
        try store.save(ServerScene.response("u2", token: "b"), for: ServerScene.request())
        store.close()
        #expect(try scene.count("SELECT count(*) FROM event WHERE program = 'old'") == 900)
        #expect(try scene.count("SELECT count(*) FROM access_token WHERE id IN (1, 2)") == 1)
    }

    @Test(.disabled(if: TestCluster.isWanted, "Citus locks no rows of several machines, and waits for those that are"))
    func `rows that others have locked are left for the next time`() throws {
        let scene = try scene()
        let other = try scene.server.connect()
        try other.execute("SET search_path = \(scene.schema)")
        try other.write {
            try other.execute("SELECT id FROM event WHERE program = 'old' AND id > 1400 FOR UPDATE")
            #expect(try scene.open().tidy() == 500 + 4)
        }
        #expect(try scene.open().tidy() == 100)
    }

    @Test func `writers tidy now and then, and a file has nothing to tidy`() async throws {
        var scene = try scene()
        scene.options.janitorChance = 1
        let store = try await scene.openLater()
        try await store.setDefaultAccount(nil)
        let end = ContinuousClock.now + .seconds(60)
        while try scene.count("SELECT count(*) FROM event WHERE program = 'old'") > 900 {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await TestStore().store.perform { try $0.tidy() } == 0)
    }
}
