import Database
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Triggers and views that somebody put into the file.
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
}
