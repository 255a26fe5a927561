import Database
import Foundation
import OAuth
import SQL
import Sealing
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Stores from before values were bound to their rows.
@Suite(.aboutFiles("servers never had the older formats"))
struct OldFormatTests {
    private let options = TestStore.options(TestClock())
    private let directory: TemporaryDirectory
    private var path: StorePath { StorePath(directory.file("tokenstore.db")) }

    init() throws { directory = try TemporaryDirectory() }

    private func makeStore(version: Int = 7) throws {
        try OldStore.make(at: path, version: version, rows: .twoAccounts)
    }

    private func query(_ home: String) -> TokenQuery {
        let account = Account.ID(issuer: "login.windows.net", homeAccountID: home)
        return TokenQuery(account: account, clientID: "cid", scope: "s1")
    }

    private func expectEverythingReadable(
        _ store: some StoreReading,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for home in ["u1", "u2"] {
            let found = try LookupResult(store.cachedToken(for: query(home + ".t1")))
            #expect(found == .hit("old-access-\(home)"), sourceLocation: sourceLocation)
            let tokens = try store.refreshTokens(of: query(home + ".t1").account, client: "cid")
            #expect(tokens.map { $0.secret.reveal() } == ["old-refresh-\(home)"], sourceLocation: sourceLocation)
        }
        #expect(try store.accounts().map(\.name) == ["Ada", nil], sourceLocation: sourceLocation)
        let found = try store.accounts(matching: .claim("department", equals: "finance"))
        #expect(found.map(\.username) == ["ada@example.net"], sourceLocation: sourceLocation)
        #expect(try store.exported()["Private"] == ["k": "v"], sourceLocation: sourceLocation)
        #expect(try store.check() == [], sourceLocation: sourceLocation)
    }

    @Test(arguments: 4...7)
    func `the first program that opens a store of an old version binds its values`(version: Int) throws {
        try makeStore(version: version)
        let store = try TokenStore.open(at: path, options: options)
        try expectEverythingReadable(store)
        let keys = try store.read { try $0.connection.all("SELECT id FROM data_key") { $0.integer(0) } }
        #expect(keys == [2])
        let values = try store.read { session in
            try session.connection.all("SELECT secret FROM access_token") { $0.blob(0).prefix(5) }
        }
        #expect(values == [[2, 0, 0, 0, 2], [2, 0, 0, 0, 2]])
        let inspection = try #require(try TokenStore.inspect(at: path, options: options))
        try expectEverythingReadable(inspection)
    }

    @Test(arguments: 4...7)
    func `an old store without its key is purged and takes the next sign-in`(version: Int) throws {
        try makeStore(version: version)
        try FileManager.default.removeItem(atPath: directory.file("key"))
        #expect(try TokenStore.purgeAll(at: path, options: options, dryRun: true).accounts == 2)
        #expect(try TokenStore.purgeAll(at: path, options: options).refreshTokens == 2)
        let store = try TokenStore.open(at: path, options: options)
        try store.take(JSONValue.standardCache(.accessToken("new", "s1")).serialized)
        #expect(try store.accounts().count == 1)
        #expect(try store.check() == [])
    }

    @Test func `an old-format value that is put back does not open, even with its data key`() throws {
        try makeStore()
        let before = try Connection(path: path.database, mode: .readWrite, busyTimeout: .seconds(5))
        let (secret, wrapped): ([UInt8], [UInt8]) = try #require(
            try before.first("SELECT secret, wrapped FROM access_token t, data_key WHERE t.id = 1") {
                ($0.blob(0), $0.blob(1))
            }
        )
        let store = try TokenStore.open(at: path, options: options)
        try before.run("UPDATE access_token SET secret = ?1, expires_on = 2000000000 WHERE id = 1", .blob(secret))
        #expect(try store.check().contains { $0.location == "access_token row 1, column secret" })
        try before.run(
            "INSERT INTO data_key SELECT 1, ?1, key_encryption_key_id, 0, created_at FROM data_key",
            .blob(wrapped)
        )
        let again = try TokenStore.open(at: path, options: options)
        #expect(try LookupResult(again.cachedToken(for: query("u1.t1"))) != .hit("old-access-u1"))
    }

    @Test(arguments: [0, 1, 2])
    func `an interrupted binding of an old store is finished by the next program`(rows: Int) throws {
        try makeStore()
        try cutOff(after: rows)
        let inspection = try #require(try TokenStore.inspect(at: path, options: options))
        try expectEverythingReadable(inspection)
        #expect(try inspection.status().isRekeyUnfinished)
        let store = try TokenStore.open(at: path, options: options)
        try expectEverythingReadable(store)
        #expect(try !store.status().isRekeyUnfinished)
    }

    /// Leaves a store with a new data key, under which only some access tokens are yet.
    private func cutOff(after rows: Int) throws {
        let store = try TokenStore.open(at: path, options: options)
        let finished = try store.read { session in
            try session.connection.all("SELECT id, secret, extra FROM access_token ORDER BY id") {
                ($0.integer(0), $0.value(1), $0.value(2))
            }
        }
        let wrapping = KeyEncryptionKey(bytes: Secret(String(decoding: 1...32, as: UTF8.self)))
        let wrapped = try store.read { session in
            try session.connection.first("SELECT wrapped FROM data_key") { $0.blob(0) }
        }
        let storeID =
            try store.read { session in
                try session.connection.first("SELECT store_id FROM store") { $0.blob(0) }
            } ?? []
        let key = try wrapping.unwrap(wrapped ?? [], id: 2, storeID: storeID)
        let replacing = try wrapping.wrap(key.replacingOlder(true), storeID: storeID)
        let fresh = try TemporaryDirectory()
        try OldStore.make(at: StorePath(fresh.file("tokenstore.db")), version: 7, rows: .twoAccounts)
        for name in ["tokenstore.db", "tokenstore.db-wal", "tokenstore.db-shm"] {
            let (source, target) = (fresh.file(name), directory.file(name))
            if FileManager.default.fileExists(atPath: target) { try FileManager.default.removeItem(atPath: target) }
            if FileManager.default.fileExists(atPath: source) {
                try FileManager.default.copyItem(atPath: source, toPath: target)
            }
        }
        let connection = try Connection(path: path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try Schema.current.apply(Schema.current.migrations[7...], to: connection)
        try connection.run("UPDATE data_key SET is_current = 0")
        try connection.run(
            "INSERT INTO data_key SELECT 2, ?1, key_encryption_key_id, 1, created_at FROM data_key",
            .blob(replacing)
        )
        for (id, secret, extra) in finished.prefix(rows) {
            try connection.run(
                "UPDATE access_token SET secret = ?2, extra = ?3 WHERE id = ?1",
                .integer(id),
                secret,
                extra
            )
        }
    }
}
