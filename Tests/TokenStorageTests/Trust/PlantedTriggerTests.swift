import Database
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Triggers, tables and constraints that somebody put into the file.
@Suite(.aboutFiles("a server's tables belong to a role that is trusted"))
struct PlantedTriggerTests {
    private func edit(_ fixture: TestStore, _ script: String) throws {
        let connection = try Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute(script)
    }

    @Test(arguments: ["account", "refresh_token", "access_token", "id_token"])
    func `a trigger keeps nobody from being signed out or purged`(table: String) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        try edit(
            fixture,
            """
            CREATE TRIGGER t BEFORE DELETE ON \(table) BEGIN SELECT raise(IGNORE); END;
            CREATE TRIGGER u AFTER INSERT ON \(table) BEGIN DELETE FROM account; END
            """
        )
        let store = try fixture.another()
        #expect(try store.check().contains { $0.location.contains("trigger") || $0.problem.contains("trigger") })
        try store.removeAccount(Fixture.account)
        #expect(try store.accounts().isEmpty)
        try fixture.signIn(.signIn())
        #expect(try store.accounts().count == 1)
        let counts = try store.purge(.all)
        #expect(counts.accounts == 1)
        #expect(try store.accounts().isEmpty)
        #expect(try fixture.export()["RefreshToken"] == .null)
    }

    @Test func `an unfinished erasure is no damage`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        try fixture.store.write { try $0.recordErasure() }
        #expect(try fixture.store.check() == [])
    }

    @Test func `a sign-out that a planted table hinders reports damage, and a repair mends it`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        try edit(
            fixture,
            """
            CREATE TABLE planted (a INTEGER REFERENCES account (id) ON DELETE RESTRICT);
            INSERT INTO planted SELECT id FROM account
            """
        )
        let store = try fixture.another()
        let error = expectError(.damaged) { _ = try store.removeAccount(Fixture.account) }
        #expect(error?.remedy == .repair)
        #expect(try store.check().map(\.problem) == ["table planted does not belong there"])
        store.close()
        fixture.store.close()
        let report = try TokenStore.repair(at: fixture.path, options: fixture.options)
        #expect(report.lostSignIns.isEmpty)
        let repaired = try fixture.another()
        #expect(try repaired.check() == [])
        try repaired.removeAccount(Fixture.account)
        #expect(try repaired.accounts().isEmpty)
    }

    @Test(arguments: [
        ("account", "policy            TEXT"), ("refresh_token", "family_id       TEXT"),
        ("access_token", "refresh_on          INTEGER"), ("id_token", "extra           BLOB"),
    ])
    func `a row that a planted constraint ignores is not said to be stored`(table: String, column: String) throws {
        let fixture = try TestStore()
        fixture.store.close()
        try Shell.run(
            "/usr/bin/sqlite3",
            fixture.path.database,
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, '\(column)', '\(column) NOT NULL ON CONFLICT IGNORE')
            WHERE name = '\(table)'
            """
        )
        let store = try fixture.another()
        #expect(try store.check().map(\.problem) == ["table \(table) is missing or altered"])
        let request = TokenRequest(
            clientID: Fixture.client,
            authority: try Fixture.authority(),
            scope: "s1 s2 s3",
            grant: .authorizationCode
        )
        let saved = try store.save(.signIn(), for: request)
        if case .pending = saved.outcome {} else { Issue.record("\(saved.outcome)") }
        store.close()
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        let repaired = try fixture.another()
        try repaired.takeInAnswers()
        #expect(try repaired.refreshTokens(of: Fixture.account, client: Fixture.client).map(\.secret) == [Secret("r")])
    }
}
