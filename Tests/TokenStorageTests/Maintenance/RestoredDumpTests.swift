import Foundation
import OAuth
import PostgreSQL
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// A store whose dump was restored in a database of another encoding.
@Suite(.onWaitingThreads, .ifServerIsInstalled, .disabled(if: TestCluster.isWanted, "its dump has no rows of accounts"))
struct RestoredDumpTests {
    /// A store with one account, in a database of its own.
    private func original() throws -> (ServerScene, StoreLocation) {
        let scene = try ServerScene()
        let database = "own_" + scene.schema
        try scene.server.makeDatabase(database, encoding: "UTF8")
        let location = StoreLocation(try scene.server.address(database: database, schema: scene.schema))
        try TokenStore.create(at: location, options: scene.options)
        let store = try TokenStore.open(at: location, options: scene.options)
        defer { store.close() }
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        return (scene, location)
    }

    private func expectUnfit(_ error: TokenStoreError?, _ encoding: String) {
        #expect(error?.problem.contains("has the encoding \(encoding)") == true, "\(error?.problem ?? "")")
        #expect(error?.remedy?.advice.contains("restore a dump of it") == true, "\(error?.remedy?.advice ?? "")")
    }

    @Test(arguments: ["LATIN1", "EUC_JP"])
    func `a database that lacks letters is read, and nothing is written there`(encoding: String) throws {
        let (scene, location) = try original()
        let address = try #require(location.address)
        let restored = StoreLocation(try scene.server.restoreDump(of: address, encoding: encoding))
        let error = #expect(throws: TokenStoreError.self) {
            _ = try TokenStore.open(at: restored, options: scene.options)
        }
        #expect(error?.code == .unsupported)
        expectUnfit(error, encoding)
        let inspection = try #require(try TokenStore.inspect(at: restored, options: scene.options))
        #expect(try inspection.accounts().map(\.id.homeAccountID) == ["u1.t1"])
        let problems = try inspection.check()
        #expect(problems.map(\.location) == ["database"])
        #expect(problems.first?.problem.contains("has the encoding \(encoding)") == true, "\(problems)")
        // So does a trial, which would not say what happens otherwise.
        expectUnfit(#expect(throws: TokenStoreError.self) { try inspection.requireWritable() }, encoding)
        let unpurged = #expect(throws: TokenStoreError.self) {
            _ = try TokenStore.purgeAll(at: restored, options: scene.options, dryRun: true)
        }
        expectUnfit(unpurged, encoding)
        // Whose operator makes a store there, or migrates it, is told the same.
        let unmade = #expect(throws: TokenStoreError.self) {
            try TokenStore.create(at: restored, options: scene.options)
        }
        expectUnfit(unmade, encoding)
        let unmigrated = #expect(throws: TokenStoreError.self) {
            try TokenStore.migrate(at: restored, options: scene.options)
        }
        expectUnfit(unmigrated, encoding)
    }

    @Test func `a database that keeps bytes as they are goes on`() throws {
        let (scene, location) = try original()
        let address = try #require(location.address)
        let restored = StoreLocation(try scene.server.restoreDump(of: address, encoding: "SQL_ASCII"))
        let store = try TokenStore.open(at: restored, options: scene.options)
        let name = "Zoë Őry 東京"
        var response = try ServerScene.response("u1", token: "b")
        response.idToken = Secret(Fixture.idToken(Fixture.claims(["preferred_username": .string(name)])))
        try store.save(response, for: ServerScene.request())
        #expect(try store.accounts().map(\.username) == [name])
        #expect(try store.check() == [])
        #expect(try TokenStore.create(at: restored, options: scene.options) == false)
        #expect(try TokenStore.migrate(at: restored, options: scene.options).steps.isEmpty)
    }

    @Test func `a program that runs writes nothing to a database that lacks letters and came in between`() throws {
        let (scene, location) = try original()
        let address = try #require(location.address)
        let store = try TokenStore.open(at: location, options: scene.options)
        #expect(try store.accounts().count == 1)
        let restored = try scene.server.restoreDump(of: address, encoding: "LATIN1")
        let (old, new) = (address.database, restored.database)
        // Otherwise the program would be back in the old one before that has its other name.
        try scene.server.connect().execute(
            """
            ALTER DATABASE \(old) ALLOW_CONNECTIONS false;
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '\(old)';
            ALTER DATABASE \(old) RENAME TO \(old)_old;
            ALTER DATABASE \(new) RENAME TO \(old)
            """
        )
        expectUnfit(#expect(throws: TokenStoreError.self) { try store.setDefaultAccount(nil) }, "LATIN1")
        let unsaved = #expect(throws: TokenStoreError.self) {
            try store.save(ServerScene.response("u2", token: "b"), for: ServerScene.request())
        }
        expectUnfit(unsaved, "LATIN1")
        #expect(unsaved?.response?.refreshToken == Secret("r-b"))
    }
}
