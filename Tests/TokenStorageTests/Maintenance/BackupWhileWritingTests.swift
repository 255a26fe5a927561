import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// A backup, and what is restored from one, is of one moment or not made at all.
@Suite(.aboutFiles("a backup is a file"))
struct BackupWhileWritingTests {
    private typealias Copy = UnlockedReadTests.Copy

    private static func tokens(_ file: String) throws -> Int64? {
        let connection = try Connection(path: file, mode: .immutable, busyTimeout: .zero)
        return try connection.integer("SELECT count(*) FROM access_token")
    }

    /// Changes nothing of a file but when that was.
    private static func touch(_ file: String, _ time: inout TimeInterval) throws {
        time += 1
        let date = Date(timeIntervalSince1970: time)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
    }

    /// Restores to a store with the same key, which is closed.
    private func store(for copy: Copy) throws -> TestStore {
        let fixture = try TestStore.closed(.standardCache(.accessToken("b", "s1")))
        try DamagedFile(fixture.directory.file("key")).write(DamagedFile(copy.directory.file("key")).bytes())
        return fixture
    }

    @Test func `a backup that a writer comes into is made again`() throws {
        let (copy, place) = (try Copy(), try TemporaryDirectory())
        let inspection = try copy.inspect()
        var writer: SQLiteShell?
        let backup = try inspection.backUp(to: place.file("b.db")) { _ in
            if writer == nil { writer = try copy.write() }
        }
        #expect(backup.accounts == 1)
        #expect(try Self.tokens(place.file("b.db")) == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["b.db"])
        try writer?.end()
    }

    @Test func `a backup of a store that is written to again and again leaves the older one as it was`() throws {
        let (copy, place) = (try Copy(timeout: .milliseconds(50)), try TemporaryDirectory())
        let inspection = try copy.inspect()
        _ = try inspection.backUp(to: place.file("b.db"))
        let before = try DirectorySnapshot(place.path).names
        let bytes = try DamagedFile(place.file("b.db")).bytes()
        var time: TimeInterval = 1_000_000
        expectError(.busy) {
            _ = try inspection.backUp(to: place.file("b.db")) { _ in try Self.touch(copy.path.database, &time) }
        }
        #expect(try DamagedFile(place.file("b.db")).bytes() == bytes)
        #expect(try DirectorySnapshot(place.path).names == before)
    }

    @Test func `two backups to one file at once are whole, and leave each other's draft alone`() throws {
        let (copy, place) = (try Copy(), try TemporaryDirectory())
        let (first, second) = (try copy.inspect(), try copy.inspect())
        var other: StoreBackup?
        let backup = try first.backUp(to: place.file("b.db")) { _ in
            if other == nil { other = try second.backUp(to: place.file("b.db")) }
        }
        #expect(backup.accounts == 1)
        #expect(other?.accounts == 1)
        #expect(try Self.tokens(place.file("b.db")) == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["b.db"])
        withExtendedLifetime(copy) {}
    }

    @Test func `the next backup removes what a killed one left, and nothing that is not its own`() throws {
        let (copy, place) = (try Copy(), try TemporaryDirectory())
        let image = try Data(contentsOf: URL(filePath: copy.path.database))
        let left = ["b.db.new-0000000000000001": Data(), "b.db.new-00000000000000ff": image]
        let others = ["b.db.new-00000000000000aa": Data("mine".utf8), "b.db.new-x": Data(), "b.db.new": image]
        for (name, content) in left.merging(others, uniquingKeysWith: { first, _ in first }) {
            #expect(FileManager.default.createFile(atPath: place.file(name), contents: content))
        }
        _ = try copy.inspect().backUp(to: place.file("b.db"))
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
        #expect(names.sorted() == (others.keys + ["b.db"]).sorted())
    }

    @Test func `what is restored from a store that a writer comes into is of one moment`() throws {
        let copy = try Copy()
        let fixture = try store(for: copy)
        var writer: SQLiteShell?
        _ = try TokenStore.restore(from: copy.path.database, to: fixture.path, options: copy.options) { _ in
            if writer == nil { writer = try copy.write() }
        }
        try writer?.end()
        #expect(try Self.tokens(fixture.path.database) == 0)
        let restored = try #require(try TokenStore.inspect(at: fixture.path, options: copy.options))
        #expect(try restored.check() == [])
        withExtendedLifetime(fixture) {}
    }

    @Test func `a backup that is written to again and again is not restored`() throws {
        let copy = try Copy(timeout: .milliseconds(50))
        let fixture = try store(for: copy)
        let before = try DamagedFile(fixture.path.database).bytes()
        let names = try DirectorySnapshot(fixture.directory.path).names
        var time: TimeInterval = 1_000_000
        expectError(.busy) {
            _ = try TokenStore.restore(from: copy.path.database, to: fixture.path, options: copy.options) { _ in
                try Self.touch(copy.path.database, &time)
            }
        }
        #expect(try DamagedFile(fixture.path.database).bytes() == before)
        #expect(try DirectorySnapshot(fixture.directory.path).names == names)
    }

    @Test(arguments: [
        "CREATE TRIGGER planted AFTER INSERT ON account BEGIN SELECT 1; END",
        "CREATE VIEW planted AS SELECT 1", "CREATE TABLE planted (x)",
    ])
    func `a backup with what does not belong there is refused before the store is touched`(sql: String) throws {
        let copy = try Copy()
        let fixture = try store(for: copy)
        try Shell.run("/usr/bin/sqlite3", copy.path.database, sql)
        let before = try DirectorySnapshot(fixture.directory.path)
        for body in [Self.plan, Self.restore] {
            let error = expectError(.damaged) { _ = try body(copy.path.database, fixture.path, copy.options) }
            #expect(error?.problem.contains("planted does not belong there") ?? false)
        }
        #expect(try DirectorySnapshot(fixture.directory.path) == before)
    }

    private static func plan(from file: String, to path: StorePath, options: StoreOptions) throws -> StoreRestore {
        try TokenStore.planRestore(from: file, to: path, options: options)
    }

    private static func restore(
        from file: String,
        to path: StorePath,
        options: StoreOptions
    ) throws -> StoreRestore {
        try TokenStore.restore(from: file, to: path, options: options)
    }

    @Test func `a value that does not open keeps a backup from being restored`() throws {
        let copy = try Copy()
        let fixture = try store(for: copy)
        try Shell.run("/usr/bin/sqlite3", copy.path.database, "UPDATE access_token SET secret = zeroblob(60)")
        let before = try DamagedFile(fixture.path.database).bytes()
        expectError(.damaged) {
            _ = try Self.restore(from: copy.path.database, to: fixture.path, options: copy.options)
        }
        #expect(try DamagedFile(fixture.path.database).bytes() == before)
    }

    @Test(arguments: OldStore.versions)
    func `a backup of an older version is restored`(version: Int) throws {
        let old = try TestStore(older: version)
        let place = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: old.directory.file("key"), toPath: place.file("key"))
        let path = StorePath(place.file("tokenstore.db"))
        _ = try TokenStore.restore(from: old.path.database, to: path, options: old.options)
        let store = try TokenStore.open(at: path, options: old.options)
        #expect(try store.check() == [])
        #expect(try store.accounts().count == 12)
    }

    @Test func `another program's file is not replaced, and a plan says so`() throws {
        let (copy, place) = (try Copy(), try TemporaryDirectory())
        let path = StorePath(place.file("tokenstore.db"))
        let text = Data("another program's".utf8)
        #expect(FileManager.default.createFile(atPath: path.database, contents: text))
        #expect(chmod(path.database, 0o600) == 0)
        for body in [Self.plan, Self.restore] {
            expectError(.damaged) { _ = try body(copy.path.database, path, copy.options) }
        }
        #expect(try DamagedFile(path.database).bytes() == Array("another program's".utf8))
        withExtendedLifetime(copy) {}
    }

    @Test func `a store is not restored beside the journal of another database`() throws {
        let (copy, place) = (try Copy(), try TemporaryDirectory())
        let path = StorePath(place.file("tokenstore.db"))
        #expect(FileManager.default.createFile(atPath: path.database + "-journal", contents: Data("x".utf8)))
        for body in [Self.plan, Self.restore] {
            expectError(.failure) { _ = try body(copy.path.database, path, copy.options) }
        }
        #expect(!FileManager.default.fileExists(atPath: path.database))
        withExtendedLifetime(copy) {}
    }

    @Test func `an empty file is replaced: there is nothing in it`() throws {
        let copy = try Copy()
        let fixture = try store(for: copy)
        try DamagedFile(fixture.path.database).replace(with: [])
        for name in ["-wal", "-shm"] { unlink(fixture.path.database + name) }
        expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: copy.options) }
        for body in [Self.plan, Self.restore] { _ = try body(copy.path.database, fixture.path, copy.options) }
        #expect(try TokenStore.open(at: fixture.path, options: copy.options).accounts().count == 1)
    }

    @Test func `a pipe in the place of the store is refused and not waited for`() throws {
        let (copy, place) = (try Copy(), try TemporaryDirectory())
        let path = StorePath(place.file("tokenstore.db"))
        #expect(mkfifo(path.database, 0o600) == 0)
        for body in [Self.plan, Self.restore] {
            expectError(.damaged) { _ = try body(copy.path.database, path, copy.options) }
        }
        withExtendedLifetime(copy) {}
    }
}
