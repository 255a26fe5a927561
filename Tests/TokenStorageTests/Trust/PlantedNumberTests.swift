import Database
import OAuth
import SQL
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Numbers with a fraction, which no column takes while its table is strict.
@Suite(.aboutFiles("the columns of a server have types that are kept"))
struct PlantedNumberTests {
    /// Puts a fraction where nothing was, in a table that is not strict meanwhile.
    private func plant(_ fixture: TestStore, _ table: String, _ column: String, _ type: String) throws {
        func connection() throws -> Connection {
            try Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5))
        }
        func define(_ sql: String, version: Int) throws {
            let connection = try connection()
            try connection.execute("PRAGMA writable_schema = ON")
            try connection.run("UPDATE sqlite_schema SET sql = ?1 WHERE name = ?2", .text(sql), .text(table))
            try connection.execute("PRAGMA schema_version = \(version)")
        }
        let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1" as StaticString
        let strict = try #require(try connection().first(sql, .text(table)) { $0.text(0) })
        let typed = try Regex("\\b\(column) +\(type)\\b")
        try define(strict.replacing(typed, with: column).replacing(") STRICT", with: ")"), version: 1_001)
        try connection().execute("UPDATE \(table) SET \(column) = 9999999999.5 WHERE \(column) IS NULL")
        let planted = SQL("SELECT count(*) FROM \(table) WHERE typeof(\(column)) = 'real'")
        #expect(try connection().integer(planted) ?? 0 > 0)
        try define(strict, version: 1_002)
    }

    @Test(arguments: [("extended_expires_on", "INTEGER"), ("refresh_on", "INTEGER")])
    func `an access token gets no time from one, and a check finds it`(column: String, type: String) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        #expect(try fixture.request("s1") == .hit("a"))
        try plant(fixture, "access_token", column, type)
        #expect(try fixture.request("s1") == .refresh(["r1"]))
        #expect(try fixture.store.check().isEmpty == false)
    }

    @Test func `a refresh token with one is of no family`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        try plant(fixture, "refresh_token", "family_id", "TEXT")
        expectError(.damaged) {
            _ = try fixture.store.refreshTokens(of: Fixture.account, client: "cid", family: nil).count
        }
        #expect(try fixture.store.check().isEmpty == false)
    }
}
