import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Files that are not a token store, or one that must not be used: each way to open one says so and changes nothing.
@Suite(.aboutFiles("files are damaged"))
struct BadFileTests {
    /// Tries everything that opens the store of `fixture`, expecting an error of `kind` each time.
    private func expectRefusal(
        _ kind: StoreErrorKind,
        _ fixture: TestStore,
        of operations: [String] = ["open", "inspect", "save"],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try DirectorySnapshot(fixture.directory.path)
        let (path, options) = (fixture.path, fixture.options)
        let attempts: [String: () throws -> Void] = [
            "open": { _ = try TokenStore.open(at: path, options: options) },
            "inspect": { _ = try TokenStore.inspect(at: path, options: options)?.accounts() },
            "save": {
                let request = TokenRequest(
                    clientID: "cid",
                    authority: try Fixture.authority(),
                    scope: "s1",
                    grant: .authorizationCode
                )
                _ = try TokenStore.open(at: path, options: options).save(.signIn(), for: request)
            },
        ]
        for operation in operations {
            expectError(kind, sourceLocation: sourceLocation) { try attempts[operation]?() }
        }
        let after = try DirectorySnapshot(fixture.directory.path)
        #expect(after.bytes("tokenstore.db") == before.bytes("tokenstore.db"), sourceLocation: sourceLocation)
        #expect(
            after.names.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
                == before.names.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") },
            sourceLocation: sourceLocation
        )
    }

    @Test(arguments: ["tokenstore.lock", "tokenstore.db-wal", "tokenstore.db-shm"], [true, false])
    func `a directory or a link in the place of a file beside a store is to be removed`(
        name: String,
        isLink: Bool
    ) throws {
        let (fixture, _) = try closedStore()
        let file = fixture.directory.file(name)
        try? FileManager.default.removeItem(atPath: file)
        if isLink {
            try FileManager.default.createSymbolicLink(
                atPath: file,
                withDestinationPath: fixture.directory.file("absent")
            )
        } else {
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        }
        func write() throws { _ = try TokenStore.open(at: fixture.path, options: fixture.options).rekey() }
        let error = #expect(throws: TokenStoreError.self) { try write() }
        #expect(error?.remedy?.code == .removeFile, "\(error?.description ?? "")")
        #expect(error?.problem.contains(name) == true, "\(error?.description ?? "")")
        try FileManager.default.removeItem(atPath: file)
        try write()
    }

    /// A store that is closed, with one account in it.
    private func closedStore() throws -> (TestStore, DamagedFile) {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        return (fixture, DamagedFile(fixture.path.database))
    }

    @Test(
        arguments: [
            Content("a sentence", Array("not a database".utf8)), Content("JSON", Array(#"{"AccessToken":{}}"#.utf8)),
            Content("nothing", []), Content("a zero", [0]),
            Content("SQLite's first bytes", Array("SQLite format 3\u{0}".utf8)),
            Content("zeros", [UInt8](repeating: 0, count: 8192)),
            Content("other bytes", [UInt8](repeating: 0xA5, count: 65_536)),
        ]
    )
    private func `C89: a file that is not a token store is damage, and stays as it is`(content: Content) throws {
        let (fixture, file) = try closedStore()
        try file.write(content.bytes)
        try expectRefusal(.damaged, fixture)
    }

    @Test func `C89: random bytes over the file are damage, and repair keeps them`() throws {
        let (fixture, file) = try closedStore()
        var generator = SeededGenerator(seed: 89)
        let noise = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try file.write(noise)
        try expectRefusal(.damaged, fixture)
        expectError(.damaged) { _ = try TokenStore.repair(at: fixture.path, options: fixture.options) }
        #expect(try file.bytes() == noise)
    }

    @Test func `an index that lost every account is damage, not an empty store`() throws {
        let (fixture, file) = try closedStore()
        let connection = try Connection(path: fixture.path.database, mode: .immutable, busyTimeout: .zero)
        let root = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'account_username'")
        let start = (Int(try #require(root)) - 1) * 4_096
        // An index page, big-endian: its kind, then the first free block, the number of entries and where they begin.
        try file.change { $0.replaceSubrange(start..<start + 8, with: [10, 0, 0, 0, 0, 16, 0, 0]) }
        try expectRefusal(.damaged, fixture, of: ["inspect"])
        for look: (StoreInspection) throws -> Void in [
            { _ = try $0.status() }, { _ = try $0.account(username: "ada@example.net") },
            { try $0.forEachAccount { _ in } },
        ] {
            let store = try TokenStore.inspect(at: fixture.path, options: fixture.options)
            expectError(.damaged) { try store.map(look) }
        }
    }

    @Test func `an SQLite database of another program is not a token store`() throws {
        let directory = try TemporaryDirectory()
        let database = directory.file("tokenstore.db")
        try Shell.run("/usr/bin/sqlite3", database, "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('x')")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: database)
        let before = try DamagedFile(database).bytes()
        let (path, options) = (StorePath(database), TestStore.options(TestClock()))
        expectError(.damaged) { _ = try TokenStore.open(at: path, options: options) }
        expectError(.damaged) { _ = try TokenStore.inspect(at: path, options: options) }
        #expect(try DamagedFile(database).bytes() == before)
    }

    @Test(arguments: [1, 16, 100, 512, 4095, 4096, 8192, 20_000])
    func `a truncated file is damage, never an empty store`(count: Int) throws {
        let (fixture, file) = try closedStore()
        try file.change { $0.removeSubrange(min(count, $0.count)...) }
        try expectRefusal(.damaged, fixture, of: ["inspect"])
        #expect(try file.bytes().count == count)
    }

    @Test(arguments: [Int32.min, -1, 3, Int32(Schema.current.version) + 1, 1_000])
    func `a schema version that does not fit its header is not trusted`(version: Int32) throws {
        let (fixture, file) = try closedStore()
        try file.change { $0.replaceSubrange(60..<64, with: withUnsafeBytes(of: version.bigEndian) { Array($0) }) }
        try expectRefusal(version > Schema.current.version ? .newerStore : .damaged, fixture)
    }

    @Test func `pages overwritten as empty are damage, not an empty store`() throws {
        let (fixture, file) = try closedStore()
        let roots = try Shell.run(
            "/usr/bin/sqlite3",
            fixture.path.database,
            "SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'account'"
        ).split(separator: "\n").compactMap { Int($0) }
        try #require(roots.count >= 3)
        // The number of cells of a page is in bytes 3 and 4 of its header.
        try file.change { bytes in
            for page in roots { bytes.replaceSubrange((page - 1) * 4096 + 3..<(page - 1) * 4096 + 5, with: [0, 0]) }
        }
        let store = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options))
        expectError(.damaged) { try store.forEachAccount { _ in } }
        expectError(.damaged) { _ = try store.accounts() }
        expectError(.damaged) { _ = try store.accounts(matching: .username("ada@example.net")) }
        expectError(.damaged) { _ = try store.signedInAccounts(client: "cid") }
        expectError(.damaged) { _ = try store.account(matching: .all) }
        expectError(.damaged) { _ = try store.status() }
        #expect(try !store.check().isEmpty)
    }

    @Test func `a store without its tables is damage`() throws {
        let (fixture, _) = try closedStore()
        try Shell.run("/usr/bin/sqlite3", fixture.path.database, "DROP TABLE account")
        try expectRefusal(.damaged, fixture, of: ["inspect"])
        try Shell.run("/usr/bin/sqlite3", fixture.path.database, "DROP TABLE store")
        try expectRefusal(.damaged, fixture, of: ["open", "inspect"])
    }

    @Test func `a directory in the place of the file is named as such`() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory.file("a.db/tokenstore.db"),
            withIntermediateDirectories: true
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.file("a.db"))
        let path = StorePath(directory.file("a.db"))
        expectError(.damaged) { _ = try TokenStore.open(at: path, options: TestStore.options(TestClock())) }
        expectError(.damaged) { _ = try TokenStore.inspect(at: path, options: TestStore.options(TestClock())) }
    }

    @Test func `a symbolic link is refused, and what it points to stays`() throws {
        let (fixture, file) = try closedStore()
        let before = try file.bytes()
        let link = fixture.directory.file("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.path.database)
        for open in [true, false] {
            let error = expectError(.failure) {
                if open {
                    _ = try TokenStore.open(at: StorePath(link), options: fixture.options)
                } else {
                    _ = try TokenStore.inspect(at: StorePath(link), options: fixture.options)
                }
            }
            #expect(error?.code == .insecure)
            #expect(error?.remedy == .choosePath(fixture.path.database))
        }
        #expect(try file.bytes() == before)
        #expect(!FileManager.default.fileExists(atPath: link + "-wal"))
    }

    @Test func `a dangling link is not a place for a new store`() throws {
        let directory = try TemporaryDirectory()
        let link = directory.file("tokenstore.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.file("elsewhere"))
        expectError(.failure) { _ = try TokenStore.open(at: StorePath(link), options: TestStore.options(TestClock())) }
        #expect(!FileManager.default.fileExists(atPath: directory.file("elsewhere")))
    }

    @Test(arguments: [0o644, 0o660, 0o602, 0o777])
    func `a file that others may use is refused with the mode it needs`(mode: Int) throws {
        let (fixture, _) = try closedStore()
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.path.database)
        try expectRefusal(.failure, fixture)
        let error = expectError(.failure) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.description.contains("change the mode of \(fixture.path.database) to 600") == true)
    }

    @Test(arguments: ["", "a letter to Ana", "SQLite format 3\u{0}" + String(repeating: " ", count: 200)])
    func `a file of another program that others may use is no store, and not to be closed`(text: String) throws {
        let (fixture, file) = try closedStore()
        try file.write(Array(text.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: fixture.path.database)
        try expectRefusal(.damaged, fixture)
        let error = expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.description.contains("to 600") == false)
    }

    @Test(arguments: ["", "a letter to Ana"])
    func `a file of another program in a directory that others may use is no store`(text: String) throws {
        let (fixture, file) = try closedStore()
        try file.write(Array(text.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fixture.directory.path)
        try expectRefusal(.damaged, fixture)
        let error = expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.description.contains("to 700") == false)
    }

    @Test func `a directory that others may use is refused with the mode it needs`() throws {
        let (fixture, _) = try closedStore()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fixture.directory.path)
        try expectRefusal(.failure, fixture)
        let error = expectError(.failure) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.description.contains("change the mode of \(fixture.directory.path) to 700") == true)
    }

    @Test func `a file with a second hard link is refused`() throws {
        let (fixture, _) = try closedStore()
        try FileManager.default.linkItem(atPath: fixture.path.database, toPath: fixture.directory.file("other"))
        try expectRefusal(.failure, fixture)
    }

    @Test func `a log without its database is damage, not an absent store`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        try withExtendedLifetime(fixture.store) {
            try FileManager.default.moveItem(atPath: fixture.path.database, toPath: fixture.directory.file("moved"))
            expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
            expectError(.damaged) { _ = try TokenStore.inspect(at: fixture.path, options: fixture.options) }
            #expect(!FileManager.default.fileExists(atPath: fixture.path.database))
        }
    }

    @Test func `a pipe in the place of the log's index is refused and not waited for`() throws {
        let (fixture, _) = try closedStore()
        unlink(fixture.path.sharedMemory)
        #expect(mkfifo(fixture.path.sharedMemory, 0o600) == 0)
        try expectRefusal(.failure, fixture)
        let error = expectError(.failure) { _ = try TokenStore.inspect(at: fixture.path, options: fixture.options) }
        #expect(error?.problem == "\(fixture.path.sharedMemory) is not a regular file")
    }

    @Test func `a migration waits for no pipe, and makes no store where there is none`() throws {
        let directory = try TemporaryDirectory()
        let (path, options) = (StorePath(directory.file("tokenstore.db")), TestStore.options(TestClock()))
        let absent = expectError(.failure) { _ = try TokenStore.migrate(at: StoreLocation(path), options: options) }
        #expect(absent?.code == .noStore)
        #expect(absent?.remedy == .choosePath)
        #expect(mkfifo(path.database, 0o600) == 0)
        expectError(.damaged) { _ = try TokenStore.migrate(at: StoreLocation(path), options: options) }
    }

    @Test func `a store that does not exist is absent, and inspection creates nothing`() throws {
        let directory = try TemporaryDirectory()
        let path = StorePath(directory.file("deep/tokenstore.db"))
        #expect(try TokenStore.inspect(at: path, options: TestStore.options(TestClock())) == nil)
        #expect(try DirectorySnapshot(directory.path).names == [])
    }
}

/// What is in a file; a report of the tests names it and does not list its bytes.
private struct Content: CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    init(_ description: String, _ bytes: [UInt8]) { (testDescription, self.bytes) = (description, bytes) }
}
