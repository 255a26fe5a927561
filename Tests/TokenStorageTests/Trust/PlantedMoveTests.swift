import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// A store that says it was moved, because somebody wrote so into it who has no key.
@Suite(.aboutFiles("the one about a server makes its own"))
struct PlantedMoveTests {
    private static let place = "postgresql://evil.example/db"
    private static let entry = """
        INSERT INTO event (id, at, program, process_id, kind, outcome, mac)
        VALUES (900, 1, 'x', 1, 'move', 'to \(place)', MAC)
        """

    private func edit(_ fixture: TestStore, _ sql: String) throws {
        try Shell.run("/usr/bin/sqlite3", fixture.path.database, sql)
    }

    /// Expects that an attempt to write says that the move is not proved, and names no place of it.
    private func expectDoubt(at location: StoreLocation, _ body: () throws -> Void) {
        let error = #expect(throws: TokenStoreError.self, performing: body)
        #expect(error?.code == .moved)
        #expect(error?.problem.contains("says that it was moved") == true, "\(error?.problem ?? "")")
        #expect(error?.problem.contains("evil") == false)
        #expect(error?.remedy == .undoMove(of: location.fullDescription))
    }

    @Test(arguments: ["", "NULL", "zeroblob(40)"])
    func `a move that somebody wrote into the file names no place`(mac: String) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let open = try fixture.another()
        _ = try open.accounts()
        let entry = mac.isEmpty ? "" : Self.entry.replacing("MAC", with: mac)
        try edit(fixture, "UPDATE data_key SET is_current = 2; \(entry)")
        expectDoubt(at: fixture.location) { _ = try fixture.another() }
        expectDoubt(at: fixture.location) { try open.setDefaultAccount(nil) }
        var options = fixture.options
        options.unlocks = false
        let locked = try TokenStore.open(at: fixture.location, options: options)
        expectDoubt(at: fixture.location) { _ = try locked.purge(.all) }
        locked.close()

        let inspection = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options))
        let status = try inspection.status()
        #expect(status.movedTo == "another place")
        #expect(!status.isMoveProved)
        let problems = try inspection.check().map(\.location)
        #expect(problems.contains("data_key, is_current"))
        #expect(problems.contains("event row 900, column mac") == !mac.isEmpty)

        let undo = try TokenStore.undoMove(at: fixture.location, options: fixture.options)
        #expect(undo.place == "another place")
        try fixture.another().setDefaultAccount(nil)
    }

    @Test func `a move names its place to who has the key, and to nobody else`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let target = StoreLocation(StorePath(fixture.directory.file("other/tokenstore.db")))
        try TokenStore.copy(
            from: fixture.location,
            to: target,
            reading: fixture.options,
            writing: fixture.options
        )
        let moved = #expect(throws: TokenStoreError.self) { _ = try fixture.another() }
        #expect(moved?.problem.hasSuffix("was moved to \(target)") == true, "\(moved?.problem ?? "")")
        // What came behind it does not count without the key.
        try edit(fixture, Self.entry.replacing("MAC", with: "zeroblob(40)"))
        let status = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options)).status()
        #expect(status.movedTo == target.description)
        #expect(status.isMoveProved)
        // Where it was moved to, the entry came along that it is there.
        try Shell.run("/usr/bin/sqlite3", try #require(target.path).database, "UPDATE data_key SET is_current = 2")
        expectDoubt(at: target) { _ = try TokenStore.open(at: target, options: fixture.options) }
        var options = fixture.options
        options.keySource = .file(fixture.directory.file("gone"))
        expectDoubt(at: fixture.location) { _ = try TokenStore.open(at: fixture.location, options: options) }
    }

    @Test(.ifServerIsInstalled) func `a move that somebody wrote into a server's tables names no place`() throws {
        let scene = try ServerScene()
        let store = try scene.createdStore()
        try store.save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        try scene.sql("UPDATE store SET moved_to = '\(Self.place)'")
        let entry = Self.entry.replacing("(id", with: "(account_id, id").replacing("(900", with: "(0, 900")
        try scene.sql(entry.replacing("MAC", with: "'\\x00'::bytea"))
        expectDoubt(at: try scene.location) { try store.setDefaultAccount(nil) }
        #expect(try store.check().map(\.location).contains("store, moved_to"))
        #expect(try store.status().movedTo == "another place")
        try TokenStore.undoMove(at: try scene.location, options: scene.options)
        try store.setDefaultAccount(nil)
    }
}
