import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Promise 9: a file says who may use it, and a step that cannot be undone leaves a copy.
@Suite(.aboutFiles("the schema is a file's; ServerMigrationTests has the other"))
struct SchemaTests {
    /// The version that this program knows, and the one after it.
    private static let known = Schema.current.version
    private static let next = known + 1

    private static func step(
        _ number: Int,
        _ sql: String,
        readerFloor: Int = 4,
        writerFloor: Int = 4,
        isIrreversible: Bool = false
    ) -> Migration {
        Migration(
            name: "V00\(number)_made_up",
            sql: sql,
            readerFloor: readerFloor,
            writerFloor: writerFloor,
            isIrreversible: isIrreversible
        )
    }

    /// Leaves a store behind that a program with more steps wrote.
    private func store(with steps: Migration...) throws -> TestStore {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        _ = try TokenStore.open(at: fixture.path, options: options(fixture, steps))
        return fixture
    }

    private func options(_ fixture: TestStore, _ steps: [Migration]) -> StoreOptions {
        var options = fixture.options
        options.schema = Schema(migrations: Migration.all + steps)
        return options
    }

    @Test func `every migration file is compiled in, in order`() throws {
        for (folder, steps) in [("Migrations", Migration.all), ("Migrations/PostgreSQL", Migration.onServer)] {
            let folder = Repository.root.appending(path: folder)
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "sql" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
            #expect(steps.map(\.name) == files.map { $0.deletingPathExtension().lastPathComponent })
            #expect(try steps.map(\.sql) == files.map { try String(contentsOf: $0, encoding: .utf8) })
        }
    }

    @Test func `a server has the version of a file, by steps of the same numbers`() {
        #expect(Schema.server.version == Schema.current.version)
        let numbers = Migration.onServer.map { Int($0.name.dropFirst().prefix(3)) }
        #expect(numbers == Array(Schema.current.version - Migration.onServer.count + 1...Schema.current.version))
    }

    @Test func `the next program that opens a store migrates it without loss`() throws {
        let fixture = try store(with: Self.step(Self.next, "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT"))
        let status = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options)).status()
        #expect(status.schemaVersion == Self.next)
        #expect(status.accounts == 1)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).allSatisfy {
                !$0.contains(".v")
            }
        )
    }

    @Test func `an older program reads and writes a newer store as far as its floors allow`() throws {
        let fixture = try store(with: Self.step(Self.next, "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT"))
        let old = try TokenStore.open(at: fixture.path, options: fixture.options)
        try old.take(JSONValue.cache(accounts: [.account(["home_account_id": "u2.t1"])]).serialized)
        #expect(try old.accounts().count == 2)
        #expect(try old.status().schemaVersion == Self.next)
    }

    @Test func `an older program can only read a store whose writer floor is newer`() throws {
        let fixture = try store(
            with: Self.step(Self.next, "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT", writerFloor: Self.next)
        )
        let inspection = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options))
        #expect(try inspection.accounts().count == 1)
        let before = try DamagedFile(fixture.path.database).bytes()
        let error = expectError(.newerStore) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.description.contains("install version \(TokenStore.version) or newer") == true)
        #expect(error?.description.contains("may not write") == true)
        #expect(try DamagedFile(fixture.path.database).bytes() == before)
    }

    @Test func `an older program cannot open a store whose reader floor is newer`() throws {
        let fixture = try store(
            with: Self.step(
                Self.next,
                "ALTER TABLE account RENAME TO person",
                readerFloor: Self.next,
                writerFloor: Self.next
            )
        )
        let before = try DamagedFile(fixture.path.database).bytes()
        for isInspection in [true, false] {
            let error = expectError(.newerStore) {
                if isInspection {
                    _ = try TokenStore.inspect(at: fixture.path, options: fixture.options)
                } else {
                    _ = try TokenStore.open(at: fixture.path, options: fixture.options)
                }
            }
            #expect(error?.description.contains("may not read") == true)
        }
        expectError(.newerStore) { _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options) }
        expectError(.newerStore) { _ = try TokenStore.repair(at: fixture.path, options: fixture.options) }
        #expect(try DamagedFile(fixture.path.database).bytes() == before)
    }

    @Test func `a store that missed an older migration is migrated, not inspected`() throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        let newer = options(fixture, [Self.step(Self.next, "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT")])
        let before = try DirectorySnapshot(fixture.directory.path)
        expectError(.failure) { _ = try TokenStore.inspect(at: fixture.path, options: newer) }
        #expect(try DirectorySnapshot(fixture.directory.path) == before)
        #expect(try TokenStore.open(at: fixture.path, options: newer).accounts().count == 1)
        #expect(try TokenStore.inspect(at: fixture.path, options: newer)?.accounts().count == 1)
    }

    @Test func `before an irreversible migration a copy is kept that opens`() throws {
        let fixture = try store(with: Self.step(Self.next, "DROP TABLE authority_map", isIrreversible: true))
        let copy = fixture.directory.file("tokenstore.db.v\(Self.known)")
        let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let store = try TokenStore.open(at: StorePath(copy), options: fixture.options)
        #expect(try store.check() == [])
        #expect(try store.rows("AccessToken").map { $0["secret"] } == ["a"])
        #expect(try store.status().schemaVersion == Self.known)
    }

    @Test func `a failed migration says which steps it took, and the next program goes on`() throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        let first = Self.step(Self.next, "CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT")
        let bad = Self.step(Self.next + 1, "CREATE TABLE half (id INTEGER) STRICT; INSERT INTO absent VALUES (1)")
        let error = #expect(throws: TokenStoreError.self) {
            try TokenStore.open(at: fixture.path, options: options(fixture, [first, bad]))
        }
        #expect(error?.problem.hasSuffix(", and the store has schema version \(Self.next) now") == true)
        #expect(error?.problem.contains("nothing was changed") == false)
        #expect(try TokenStore.open(at: fixture.path, options: options(fixture, [first])).accounts().count == 1)
        let good = Self.step(Self.next + 1, "CREATE TABLE half (id INTEGER) STRICT")
        let store = try TokenStore.open(at: fixture.path, options: options(fixture, [first, good]))
        #expect(try store.status().schemaVersion == Self.next + 1)
        #expect(try store.accounts().count == 1)
    }
}
