import Foundation
import OAuth
import PostgreSQL
import SQL
import Sealing
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// New keys for a store on a server, where no lock of one machine keeps the others out.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct ServerRekeyTests {
    private struct Interruption: Error {}

    /// A store with some rows.
    private func filled(_ scene: ServerScene, accounts: Int = 20) throws -> TokenStore {
        let store = try scene.createdStore()
        for number in 0..<accounts {
            try store.save(ServerScene.response("u\(number)", token: "a\(number)"), for: ServerScene.request())
        }
        return store
    }

    /// The store by connections of its own, with the key from where the store says.
    private func opened(_ scene: ServerScene) throws -> TokenStore {
        var options = scene.options
        options.keySource = nil
        return try TokenStore.open(at: scene.location, options: options)
    }

    @Test func `work in steps that fails promises nothing of those before`() throws {
        let scene = try ServerScene()
        let store = try filled(scene, accounts: 2)
        try scene.sql("ALTER TABLE refresh_token ADD CONSTRAINT stuck CHECK (false) NOT VALID")
        let new = KeySource.file(scene.directory.file("new"))
        let error = #expect(throws: TokenStoreError.self) { _ = try store.rekey(to: new, afterLeak: true) }
        #expect(error?.problem.contains("nothing was changed") == false, "\(error?.problem ?? "")")
        #expect(error?.problem.contains("and a rekey has begun under the key from '\(new)'") == true)
        try scene.sql("ALTER TABLE refresh_token DROP CONSTRAINT stuck")
        #expect(try store.rekey(to: new, afterLeak: true).resumed)
        #expect(try opened(scene).check() == [])
    }

    @Test(.disabled(if: TestCluster.isWanted, "tables that are spread have no triggers"))
    func `a purge that fails after its first accounts says how many went`() throws {
        let scene = try ServerScene()
        let store = try filled(scene, accounts: 201)
        try scene.sql(
            """
            CREATE FUNCTION stuck() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
                IF EXISTS (SELECT 1 FROM event WHERE kind = ''purge'' AND tx <> pg_current_xact_id())
                THEN RAISE EXCEPTION ''stuck''; END IF; RETURN OLD; END';
            CREATE TRIGGER stuck BEFORE DELETE ON refresh_token FOR EACH ROW EXECUTE FUNCTION stuck()
            """
        )
        let error = #expect(throws: TokenStoreError.self) { _ = try store.purge(.all) }
        #expect(error?.problem.contains("nothing was changed") == false, "\(error?.problem ?? "")")
        #expect(error?.problem.hasSuffix(", and 200 of 201 accounts were deleted before") == true)
    }

    @Test func `an emptied store that lost its data keys gets one from its owner alone`() throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let program = try scene.location(as: "trusted")
        try TokenStore.open(at: program, options: scene.options)
            .save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        try scene.sql("DELETE FROM data_key")
        expectCode(.damaged) { try scene.create() }
        #expect(try TokenStore.purgeAll(at: program, options: scene.options).accounts == 1)
        let store = try #require(try TokenStore.inspect(at: program, options: scene.options))
        #expect(try store.check().map(\.remedy?.code) == [.makeKey])
        #expect(try store.status().keyProblem != nil)
        let error = #expect(throws: TokenStoreError.self) {
            _ = try TokenStore.open(at: program, options: scene.options)
        }
        #expect(error?.remedy?.code == .makeKey)
        #expect(try !scene.create())
        let again = try TokenStore.open(at: program, options: scene.options)
        try again.save(ServerScene.response("u1", token: "b"), for: ServerScene.request())
        #expect(try again.check() == [])
    }

    @Test(.disabled(if: TestCluster.isWanted, "the tables of a cluster are not put back so"))
    func `a program that knows a data key does not take another for it after a restore`() throws {
        let scene = try ServerScene()
        let store = try filled(scene, accounts: 2)
        let program = try opened(scene)
        let tables = try scene.server.connect().all(
            "SELECT tablename FROM pg_tables WHERE schemaname = ?1 AND tablename <> 'account'",
            .text(scene.schema)
        ) { $0.text(0) }
        let kept = (["account"] + tables).map { "CREATE TABLE kept.\($0) AS SELECT * FROM \($0)" }
        let restored =
            ["TRUNCATE account, \(tables.joined(separator: ", "))"]
            + (["account"] + tables).map { "INSERT INTO \($0) SELECT * FROM kept.\($0)" }
        try scene.sql("DROP SCHEMA IF EXISTS kept CASCADE; CREATE SCHEMA kept; " + kept.joined(separator: "; "))
        _ = try store.rekey()
        try program.save(ServerScene.response("u1", token: "b"), for: ServerScene.request())
        try scene.sql("BEGIN; \(restored.joined(separator: "; ")); COMMIT; DROP SCHEMA kept CASCADE")
        _ = try opened(scene).rekey()
        try program.save(ServerScene.response("u9", token: "c"), for: ServerScene.request())
        #expect(try opened(scene).check() == [])
        #expect(try opened(scene).accountCount(matching: .all) == 3)
    }

    @Test func `a store whose key is lost gets another one from its owner when it is empty`() throws {
        var scene = try ServerScene()
        let old = scene.options
        try filled(scene, accounts: 2).close()
        scene.options.keySource = .file(scene.directory.file("new"))
        // The old key is there, and then it is not, but the store holds something.
        #expect(throws: (any Error).self) { try scene.create() }
        try FileManager.default.removeItem(atPath: scene.directory.file("key"))
        #expect(throws: (any Error).self) { try scene.create() }
        #expect(try TokenStore.purgeAll(at: scene.location, options: old).accounts == 2)
        #expect(throws: (any Error).self) { try TokenStore.open(at: scene.location, options: old) }
        #expect(try !scene.create())
        let store = try opened(scene)
        try store.save(ServerScene.response("u1", token: "b"), for: ServerScene.request())
        #expect(try store.check() == [])
    }

    @Test func `an empty store whose key is at its place keeps it, also if it cannot be had now`() throws {
        var scene = try ServerScene()
        try scene.create()
        let key = scene.directory.file("key")
        scene.options.keySource = .file(scene.directory.file("new"))
        for mode: mode_t in [0o640, 0o600] {
            try #require(chmod(key, mode) == 0)
            #expect(throws: (any Error).self) { try scene.create() }
        }
        #expect(throws: Never.self) { try opened(scene) }
    }

    @Test func `a key is changed and every value sealed anew while others write`() async throws {
        let scene = try ServerScene()
        let store = try filled(scene)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                let other = try await scene.openLater()
                group.addTask {
                    for round in 0..<10 {
                        let response = try ServerScene.response("w\(writer)", token: "b\(round)")
                        _ = try await other.save(response, for: ServerScene.request())
                    }
                }
            }
            let report = try await store.rekey()
            #expect(report.resealed >= 80)
            try await group.waitForAll()
        }
        #expect(try await scene.openLater().check() == [])
        #expect(try scene.count("SELECT count(*) FROM data_key") == 1)
        #expect(try await store.accountCount(matching: .all) == 22)
    }

    @Test func `writers without a pause between them do not keep a rekey from its turn`() async throws {
        let scene = try ServerScene()
        _ = try filled(scene)
        let store = try opened(scene)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                let other = try opened(scene)
                group.addTask {
                    while !Task.isCancelled {
                        let response = try ServerScene.response("w\(writer)", token: "b")
                        _ = try await other.save(response, for: ServerScene.request())
                    }
                }
            }
            for _ in 0..<3 { _ = try await store.rekey() }
            _ = try await store.rekey(to: .file(scene.directory.file("other")), afterLeak: true)
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(try scene.count("SELECT count(*) FROM data_key") == 1)
        #expect(try await store.check() == [])
    }

    @Test func `a rekey that others overtake takes away no key that a value is sealed under`() throws {
        let scene = try ServerScene()
        let store = try filled(scene)
        let (second, third) = (try scene.open(), try scene.open())
        var isOvertaken = false
        let report = try store.rekey { progress in
            // The first tables are sealed under the new key by now.
            guard !isOvertaken, progress.done > 40 else { return }
            isOvertaken = true
            do {
                #expect(try second.rekey().resumed)
                _ = try third.rekey { _ in throw Interruption() }
            } catch is Interruption {
                // A new key is there, and few values are under it.
            }
            #expect(try scene.count("SELECT count(*) FROM data_key") == 2)
        }
        #expect(isOvertaken)
        #expect(report.resealed > 80)
        #expect(try scene.count("SELECT count(*) FROM data_key") == 1)
        #expect(try scene.open().check() == [])
        #expect(try store.accountCount(matching: .all) == 20)
    }

    @Test func `two nodes that change the key source at once leave one that opens everything`() async throws {
        let scene = try ServerScene()
        _ = try filled(scene, accounts: 3)
        let nodes = try [opened(scene), opened(scene)]
        for round in 0..<5 {
            let outcomes = await withTaskGroup(of: Result<RekeyReport, any Error>.self) { group in
                for (node, store) in nodes.enumerated() {
                    let source = KeySource.file(scene.directory.file("key-\(round)-\(node)"))
                    group.addTask {
                        do {
                            return .success(try await store.rekey(to: source))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.contains { (try? $0.get()) != nil }, "\(outcomes)")
            for case .failure(let error) in outcomes {
                #expect((error as? TokenStoreError)?.code == .busy, "\(error)")
            }
            #expect(try await opened(scene).check() == [])
        }
    }

    @Test func `a rotation in the middle of a rekey leaves the rotated refresh token alone`() throws {
        let scene = try ServerScene()
        let store = try filled(scene)
        let other = try scene.open()
        var rotated: Set<String> = []
        _ = try store.rekey { _ in
            // Each time another account, so that some are before and some behind the place of the rekey.
            let id = "u\(rotated.count).t1"
            guard rotated.count < 20, rotated.insert(id).inserted else { return }
            let account = Account.ID(issuer: Fixture.account.issuer, homeAccountID: id)
            let used = try #require(try other.refreshTokens(of: account, client: "cid").first)
            let request = TokenRequest(
                clientID: "cid",
                authority: try Authority(parsing: "https://login.microsoftonline.com/t1"),
                scope: "s1",
                grant: .refreshToken
            )
            let response = try ServerScene.response(String(id.dropLast(3)), token: "new")
            _ = try other.save(response, for: request, refreshing: used)
        }
        try #require(rotated.count > 3)
        for id in rotated {
            let account = Account.ID(issuer: Fixture.account.issuer, homeAccountID: id)
            #expect(try store.refreshTokens(of: account, client: "cid").map(\.secret) == [Secret("r-new")])
        }
        #expect(try store.check() == [])
    }
}
