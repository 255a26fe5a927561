import Foundation
import OAuth
import SQL
import TestSupport
import Testing
import TokenStorage

/// A repair of a store that was edited without the key, or left in the middle of something.
extension RepairTests {
    private func edit(_ fixture: TestStore, _ sql: String) throws {
        try Shell.run("/usr/bin/sqlite3", fixture.path.database, "PRAGMA foreign_keys = OFF; \(sql)")
    }

    private func problems(_ fixture: TestStore) throws -> [String] {
        try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options)).check().map(\.location)
    }

    @Test func `a store that was damaged during a rekey is repaired`() throws {
        struct Interruption: Error {}
        let fixture = try TestStore(Self.crowd.with(["Private": ["k": "v"]]))
        var steps = 0
        #expect(throws: (any Error).self) {
            _ = try fixture.store.rekey { _ in
                steps += 1
                if steps == 2 { throw Interruption() }
            }
        }
        #expect(try fixture.store.status().isRekeyUnfinished)
        fixture.store.close()
        try edit(fixture, "UPDATE access_token SET target = 'x' WHERE id = 1")
        let (report, store) = try repaired(fixture)
        #expect(report.lostSignIns.isEmpty)
        #expect(try store.status().accessTokens == 59)
        #expect(try store.exported()["Private"] == ["k": "v"])
        _ = try store.rekey()
        #expect(try !store.status().isRekeyUnfinished)
    }

    @Test(arguments: 1..<Schema.current.version)
    func `a version that is wrong in both places is read from the tables`(version: Int) throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(fixture, "PRAGMA user_version = \(version); UPDATE store SET schema_version = \(version)")
        let (report, store) = try repaired(fixture)
        #expect(report.lost.isEmpty)
        #expect(try store.status().refreshTokens == 60)
    }

    @Test(arguments: [-1, 0])
    func `a version that there never was is damage, which a repair mends`(version: Int) throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(fixture, "PRAGMA user_version = \(version); UPDATE store SET schema_version = \(version)")
        for isInspection in [true, false] {
            let error = expectError(.damaged) {
                if isInspection {
                    _ = try TokenStore.inspect(at: fixture.path, options: fixture.options)?.accounts()
                } else {
                    _ = try TokenStore.open(at: fixture.path, options: fixture.options)
                }
            }
            #expect(error?.remedy == .repair)
        }
        #expect(try repaired(fixture).store.accounts().count == 60)
    }

    @Test(arguments: [0, 3, -1])
    func `the only data key is the current one, whatever is written beside it`(value: Int) throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(fixture, "UPDATE data_key SET is_current = \(value)")
        #expect(try repaired(fixture).store.accounts().count == 60)
    }

    @Test(arguments: ["2, wrapped, key_encryption_key_id", "2, wrapped, 'another'", "2, zeroblob(75), 'another'"])
    func `a data key too many that does not open is left out by a repair`(row: String) throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(fixture, "INSERT INTO data_key SELECT \(row), 0, created_at FROM data_key")
        let error = expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.remedy == .repair)
        let (report, store) = try repaired(fixture)
        #expect(report.lost.map(\.table) == ["data_key"])
        #expect(report.lostSignIns.isEmpty)
        #expect(try store.accounts().count == 60)
        #expect(try store.rows("AccessToken").count == 60)
    }

    @Test func `a repair without the current data key changes nothing`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(fixture, "UPDATE data_key SET wrapped = zeroblob(length(wrapped))")
        let before = try DamagedFile(fixture.path.database).bytes()
        expectError(.damaged) { _ = try TokenStore.repair(at: fixture.path, options: fixture.options) }
        #expect(try DamagedFile(fixture.path.database).bytes() == before)
    }

    @Test func `a plan says what a repair would lose, and changes nothing`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(fixture, "UPDATE refresh_token SET secret = x'0102' WHERE id = 5")
        let before = try DirectorySnapshot(fixture.directory.path)
        let plan = try TokenStore.planRepair(at: fixture.path, options: fixture.options)
        let after = try DirectorySnapshot(fixture.directory.path)
        #expect(after.names == before.names)
        #expect(after.bytes("tokenstore.db") == before.bytes("tokenstore.db"))
        let report = try repaired(fixture).report
        #expect(plan.lostSignIns == report.lostSignIns)
        #expect(plan.lostSignIns.count == 1)
        #expect(plan.salvaged.map(\.rows) == report.salvaged.map(\.rows))
    }

    @Test func `a refresh token that was moved to another account may be a lost sign-in`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(fixture, "UPDATE refresh_token SET account_id = 2 WHERE id = 1")
        #expect(try repaired(fixture).report.mayHaveLostOthers)
    }

    @Test func `rows whose account is gone are counted as lost`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(fixture, "UPDATE access_token SET account_id = 99 WHERE id = 1")
        let lost = try repaired(fixture).report.lost
        #expect(lost.map(\.table) == ["access_token"])
        #expect(lost.first?.rows == 1)
    }

    @Test(arguments: ["account", "access_token", "refresh_token", "app_metadata"])
    func `a row with an id that no program gave does not keep the others`(table: String) throws {
        let document = Self.crowd.with(["AppMetadata": ["appmetadata-h-cid": .appMetadata()]])
        let fixture = try TestStore.closed(document)
        try edit(fixture, "UPDATE \(table) SET id = -9223372036854775808 WHERE id = 1")
        #expect(try repaired(fixture).store.accounts().count >= 59)
    }

    @Test func `an entry that leaves no id for the next one is found, and taken out`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(
            fixture,
            """
            INSERT INTO event (id, at, program, process_id, kind, outcome)
            VALUES (9223372036854775807, 1, 'x', 1, 'purge', 'x')
            """
        )
        #expect(try problems(fixture).contains { $0.hasPrefix("event row 9223372036854775807") })
        try repaired(fixture).store.take(JSONValue.newcomer.serialized)
    }

    @Test func `a store that was taken out of its mode is put back into it`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        try edit(fixture, "PRAGMA journal_mode = DELETE")
        expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(try problems(fixture) == ["file"])
        let (report, store) = try repaired(fixture)
        #expect(report.lost.isEmpty)
        #expect(try store.accounts().count == 60)
    }

    @Test func `the journal of another database is not played back, and stays`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        let journal = fixture.path.database + "-journal"
        #expect(FileManager.default.createFile(atPath: journal, contents: Data(repeating: 7, count: 4096)))
        let before = try DirectorySnapshot(fixture.directory.path)
        expectError(.failure) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        expectError(.failure) { _ = try TokenStore.inspect(at: fixture.path, options: fixture.options) }
        expectError(.failure) { _ = try TokenStore.repair(at: fixture.path, options: fixture.options) }
        let after = try DirectorySnapshot(fixture.directory.path)
        #expect(after.bytes("tokenstore.db-journal") == before.bytes("tokenstore.db-journal"))
        #expect(after.bytes("tokenstore.db") == before.bytes("tokenstore.db"))
        try FileManager.default.removeItem(atPath: journal)
        #expect(try TokenStore.open(at: fixture.path, options: fixture.options).accounts().count == 60)
    }

    @Test func `a transaction without a write-ahead log that was cut off is rolled back by a repair`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        let place = try TestStore.closed(["AccessToken": [:]])
        let shell = try SQLiteShell(fixture.path.database)
        try shell.run(
            "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; DELETE FROM refresh_token; "
                + "DELETE FROM access_token; DELETE FROM id_token; CREATE TABLE x (y); "
                + "INSERT INTO x SELECT randomblob(9000) FROM account;"
        )
        for name in ["tokenstore.db", "tokenstore.db-journal", "key"] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.directory.file(name)))
            #expect(FileManager.default.createFile(atPath: place.directory.file(name), contents: bytes))
            #expect(chmod(place.directory.file(name), 0o600) == 0)
        }
        try shell.end()
        for name in ["-wal", "-shm"] { unlink(place.path.database + name) }
        let report = try TokenStore.repair(at: place.path, options: place.options)
        #expect(report.lostSignIns.isEmpty)
        let store = try TokenStore.open(at: place.path, options: place.options)
        #expect(try store.status().refreshTokens == 60)
        #expect(try store.check() == [])
        #expect(FileManager.default.fileExists(atPath: report.damagedCopy + ".journal"))
    }
}
