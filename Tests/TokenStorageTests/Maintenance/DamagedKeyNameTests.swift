import Database
import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// What a store says of its key is in the clear, and can be damaged: the key that opens it is the right one still.
@Suite(.aboutFiles("a server is not repaired"))
struct DamagedKeyNameTests {
    private func closedStore(_ edit: (Connection) throws -> Void) throws -> TestStore {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        let connection = try Connection(path: fixture.path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try edit(connection)
        return fixture
    }

    /// The other digit that a flipped bit makes of the first one of the key's id.
    private static func misname(_ connection: Connection) throws {
        try connection.run(
            """
            UPDATE data_key SET key_encryption_key_id =
                CASE WHEN key_encryption_key_id LIKE '0%' THEN '1' ELSE '0' END || substr(key_encryption_key_id, 2)
            """
        )
    }

    /// Its first byte behind the version and the id of the data key.
    private static func misnameInside(_ connection: Connection) throws {
        let wrapped = try connection.first("SELECT wrapped FROM data_key") { $0.blob(0) }
        var altered = try #require(wrapped)
        altered[5] ^= 1
        try connection.run("UPDATE data_key SET wrapped = ?1", .blob(altered))
    }

    @Test(arguments: [true, false])
    func `a key whose name is damaged is damage, which a repair mends`(isInside: Bool) throws {
        let fixture = try closedStore { try isInside ? Self.misnameInside($0) : Self.misname($0) }
        let error = expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.remedy == .repair)
        let report = try TokenStore.repair(at: fixture.path, options: fixture.options)
        #expect(report.lost == [])
        let repaired = try fixture.another()
        #expect(try repaired.check() == [])
        #expect(try repaired.rows("AccessToken").map { $0["secret"] } == ["a"])
    }

    @Test func `another key is another key, even where the name of the right one is damaged`() throws {
        let fixture = try closedStore { try Self.misname($0) }
        try DamagedFile(fixture.directory.file("key")).write([UInt8](repeating: 7, count: 32))
        let error = expectError(.keyUnavailable) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.keyError?.code == .otherKey)
        expectError(.keyUnavailable) { _ = try TokenStore.repair(at: fixture.path, options: fixture.options) }
    }

    @Test func `a damaged key source is damage, and a repair writes down the one that is given`() throws {
        let fixture = try closedStore { try $0.execute("UPDATE store SET key_source = 'gile'") }
        for open in [
            { _ = try TokenStore.open(at: fixture.path, options: fixture.options) },
            { _ = try TokenStore.repair(at: fixture.path, options: fixture.options) },
        ] {
            let error = expectError(.damaged, from: open)
            #expect(error?.remedy?.code == .changeKey)
        }
        var options = fixture.options
        options.keySource = .file
        let inspection = try #require(try TokenStore.inspect(at: fixture.path, options: options))
        #expect(try inspection.check().map(\.location) == ["store"])
        #expect(try inspection.status().accounts == 1)
        _ = try TokenStore.repair(at: fixture.path, options: options)
        #expect(try fixture.another().check() == [])
    }
}
