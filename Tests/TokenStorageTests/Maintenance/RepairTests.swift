import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

@Suite(.aboutFiles("only a file is repaired"))
struct RepairTests {
    static let crowd = JSONValue.cache(
        accessTokens: (0..<60).map {
            .accessToken(
                "a\($0)",
                "s1",
                ["home_account_id": .string("u\($0).t1"), "x": .string(String(repeating: "x", count: 500))]
            )
        },
        refreshTokens: (0..<60).map { .refreshToken("r\($0)", ["home_account_id": .string("u\($0).t1")]) },
        idTokens: (0..<60).map {
            .idToken(Fixture.claims(["department": .string("d\($0)")]), ["home_account_id": .string("u\($0).t1")])
        },
        accounts: (0..<60).map { .account(["home_account_id": .string("u\($0).t1")]) }
    )

    func repaired(_ fixture: TestStore) throws -> (report: RepairReport, store: TokenStore) {
        let damaged = try DamagedFile(fixture.path.database).bytes()
        let report = try TokenStore.repair(at: fixture.path, options: fixture.options)
        #expect(try DamagedFile(report.damagedCopy).bytes() == damaged)
        let store = try TokenStore.open(at: fixture.path, options: fixture.options)
        #expect(try store.check() == [])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).allSatisfy {
                !$0.contains(".salvage") && !$0.contains(".new")
            }
        )
        return (report, store)
    }

    /// The pages that hold the rows of a table, and its root.
    private func pages(of table: String, _ fixture: TestStore) throws -> [Int] {
        try Shell.run(
            "/usr/bin/sqlite3",
            fixture.path.database,
            "SELECT pageno FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf' ORDER BY path"
        ).split(separator: "\n").compactMap { Int($0) }
    }

    private func overwrite(page: Int, _ fixture: TestStore, with byte: UInt8 = 0) throws {
        try DamagedFile(fixture.path.database).change {
            $0.replaceSubrange((page - 1) * 4096..<page * 4096, with: repeatElement(byte, count: 4096))
        }
    }

    @Test func `a session whose DPoP key is lost is named as lost`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn(["token_type": "DPoP"])) {
            $0.newKey = BoundKey(thumbprint: "t", secret: Secret("key"))
        }
        fixture.store.close()
        for page in try pages(of: "dpop_key", fixture) { try overwrite(page: page, fixture) }
        let (report, store) = try repaired(fixture)
        #expect(report.lostSignIns.map(\.clientID) == ["cid"])
        #expect(try store.boundKey(of: Fixture.account, client: "cid") == nil)
    }

    @Test func `a repair of a sound store loses nothing`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        let export = try TokenStore.inspect(at: fixture.path, options: fixture.options)?.exportedText()
        let (report, store) = try repaired(fixture)
        #expect(report.lost.isEmpty)
        #expect(report.salvaged.first { $0.table == "account" }?.rows == 60)
        #expect(try store.exportedText() == export)
        #expect(try store.accounts(matching: .claim("department", equals: "d7")).map(\.id.homeAccountID) == ["u7.t1"])
    }

    @Test func `a repair keeps commits that are only in the log`() throws {
        let live = try TestStore(Self.crowd)
        let fixture = try TestStore.closed(["AccessToken": [:]])
        for name in ["tokenstore.db", "tokenstore.db-wal", "key"] {
            try DamagedFile(fixture.directory.file(name)).replace(with: DamagedFile(live.directory.file(name)).bytes())
        }
        try FileManager.default.removeItem(atPath: fixture.directory.file("tokenstore.db-shm"))
        let (report, store) = try repaired(fixture)
        #expect(report.lost.isEmpty)
        #expect(try store.exportedText() == live.store.exportedText())
    }

    @Test(
        arguments: ["access_token", "refresh_token", "id_token", "tenant_profile", "claim_index", "event"],
        [UInt8(0), 0xA5]
    )
    func `a damaged page in the middle loses only its own rows`(table: String, byte: UInt8) throws {
        let fixture = try TestStore.closed(Self.crowd)
        let leaves = try pages(of: table, fixture)
        try overwrite(page: leaves[leaves.count / 2], fixture, with: byte)
        let damage = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options)).damageReported()
        #expect(damage)
        let (report, store) = try repaired(fixture)
        // The index is made anew from the ID tokens, so that its loss is none.
        #expect(report.lost.map(\.table).contains(table) || table == "claim_index")
        #expect(try store.accounts().count == 60)
        let counts = try store.status()
        #expect(counts.accessTokens > (table == "access_token" ? 40 : 59))
        #expect(counts.accessTokens < (table == "access_token" ? 60 : 61))
        #expect(try store.accounts(matching: .claim("department", equals: "d1")).count == 1)
    }

    @Test func `a damaged page of accounts loses their tokens and no others`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        let leaves = try pages(of: "account", fixture)
        try #require(leaves.count > 1)
        try overwrite(page: leaves[1], fixture)
        let (report, store) = try repaired(fixture)
        #expect(report.lost.map(\.table).contains("account"))
        let count = try store.accounts().count
        #expect(0 < count)
        #expect(count < 60)
        #expect(try store.status().refreshTokens == count)
    }

    @Test func `without the first page a repair finds every row by the current schema`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try overwrite(page: 1, fixture, with: 0xA5)
        expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        let (_, store) = try repaired(fixture)
        #expect(try store.accounts().count == 60)
        #expect(try store.status().accessTokens == 60)
    }

    @Test func `a repair of a truncated file keeps the rows that are left`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try DamagedFile(fixture.path.database).change { $0.removeLast($0.count / 4 / 4096 * 4096) }
        let (report, store) = try repaired(fixture)
        #expect(!report.lost.isEmpty)
        #expect(try !store.accounts().isEmpty)
    }

    @Test func `a sealed value that was altered is dropped and counted`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try Shell.run(
            "/usr/bin/sqlite3",
            fixture.path.database,
            """
            UPDATE access_token SET secret = CAST(substr(secret, 1, 40) || x'00ff00' || substr(secret, 44) AS BLOB) WHERE id = 3;
            UPDATE tenant_profile SET extra = x'0102' WHERE id = 4;
            UPDATE refresh_token SET secret = (SELECT secret FROM refresh_token WHERE id = 6) WHERE id = 5;
            """
        )
        let problems = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options)).check()
        #expect(
            problems.map(\.location) == [
                "tenant_profile row 4, column extra", "refresh_token row 5, column secret",
                "access_token row 3, column secret",
            ]
        )
        let (report, store) = try repaired(fixture)
        #expect(report.lost.contains { $0.table == "access_token" && $0.rows == 1 })
        #expect(report.lost.contains { $0.table == "refresh_token" && $0.rows == 1 })
        #expect(try store.status().accessTokens == 59)
        #expect(try store.accounts().count == 60)
    }

    @Test func `a repair without data keys replaces nothing`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        for page in try pages(of: "data_key", fixture) { try overwrite(page: page, fixture) }
        let before = try DirectorySnapshot(fixture.directory.path)
        expectError(.damaged) { _ = try TokenStore.repair(at: fixture.path, options: fixture.options) }
        let after = try DirectorySnapshot(fixture.directory.path)
        #expect(after.names == before.names)
        #expect(after.bytes("tokenstore.db") == before.bytes("tokenstore.db"))
    }

    @Test func `a second repair keeps the copy that the first one made`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        let first = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let second = try TokenStore.repair(at: fixture.path, options: fixture.options)
        #expect(first.damagedCopy != second.damagedCopy)
        #expect(FileManager.default.fileExists(atPath: first.damagedCopy))
    }

    @Test(arguments: OldStore.versions)
    func `a damaged store of an older schema is repaired, and opens`(version: Int) throws {
        let fixture = try TestStore(older: version)
        let leaves = try pages(of: "access_token", fixture)
        try overwrite(page: try #require(leaves.last), fixture)
        let (report, store) = try repaired(fixture)
        #expect(try store.status().schemaVersion == Schema.current.version)
        #expect(try store.accounts().count == 12)
        #expect(report.lostSignIns.isEmpty)
        #expect(!report.mayHaveLostOthers)
    }

    @Test(arguments: OldStore.versions)
    func `a store of an older schema that lost its first page is repaired, and opens`(version: Int) throws {
        let fixture = try TestStore(older: version)
        try overwrite(page: 1, fixture, with: 0xA5)
        let (report, store) = try repaired(fixture)
        #expect(try store.accounts().count == 12)
        #expect(try store.status().refreshTokens == 12)
        #expect(report.lostSignIns.isEmpty)
    }

    @Test(arguments: [0, 3, Int(Int32.max)])
    func `a schema version damaged in one place is read from the tables`(version: Int) throws {
        for sql in ["PRAGMA user_version = \(version)", "UPDATE store SET schema_version = \(version)"] {
            let fixture = try TestStore.closed(Self.crowd)
            try Shell.run("/usr/bin/sqlite3", fixture.path.database, sql)
            let (report, store) = try repaired(fixture)
            #expect(report.lost.isEmpty)
            #expect(try store.accounts().count == 60)
        }
    }

    @Test func `a lost account is reported as one that has to sign in again`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        let all = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options)).accounts()
        let leaves = try pages(of: "account", fixture)
        try overwrite(page: leaves[1], fixture)
        let (report, store) = try repaired(fixture)
        let kept = Set(try store.accounts().map(\.id.homeAccountID))
        let lost = all.map(\.id.homeAccountID).filter { !kept.contains($0) }
        #expect(!lost.isEmpty)
        #expect(Set(report.lostSignIns.compactMap(\.homeAccountID)) == Set(lost))
        #expect(Set(report.lostSignIns.map(\.username)) == ["ada@example.net"])
        #expect(report.lostSignIns.allSatisfy { $0.clientID == nil })
        #expect(!report.mayHaveLostOthers)
    }

    @Test func `an account whose last refresh token is lost is reported with its client`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try Shell.run(
            "/usr/bin/sqlite3",
            fixture.path.database,
            "UPDATE refresh_token SET secret = x'0102' WHERE id = 5; DELETE FROM claim_index"
        )
        let (report, _) = try repaired(fixture)
        #expect(report.lostSignIns.map(\.clientID) == ["cid"])
        #expect(report.lostSignIns.map(\.username) == ["ada@example.net"])
        #expect(!report.mayHaveLostOthers)
    }

    @Test func `an account table lost with its indexes is reported as possibly incomplete`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        for table in ["account", "account_username", "sqlite_autoindex_account_1"] {
            try overwrite(page: try #require(try pages(of: table, fixture).last), fixture)
        }
        #expect(try repaired(fixture).report.mayHaveLostOthers)
    }
}

extension StoreReading {
    /// Whether reading everything says that the file is damaged.
    fileprivate func damageReported() throws -> Bool {
        do {
            return try !check().isEmpty
        } catch let error as TokenStoreError where error.code == .damaged {
            return true
        }
    }
}
