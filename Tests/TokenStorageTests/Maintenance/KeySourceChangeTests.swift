import Database
import Foundation
import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// A rekey to another key source, and one after a leak.
@Suite(.onWaitingThreads, .aboutFiles("keys lie beside the file"))
struct KeySourceChangeTests {
    @Test func `after a change of key source only the new source opens the store`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        #expect(try fixture.request("s1") == .hit("a"))
        let key = fixture.directory.file("other-key")
        let report = try fixture.store.rekey(to: .file(key))
        #expect(report.resealed == 0)
        #expect(report.note != nil)
        #expect(try fixture.request("s1") == .hit("a"))
        try fixture.take(.newcomer)
        _ = try fixture.store.rekey()
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.another().accounts().count == 2)
        try FileManager.default.removeItem(atPath: fixture.directory.file("key"))
        #expect(try fixture.another().check() == [])
    }

    @Test(arguments: [false, true])
    func `a key file that was made for a store that cannot be made goes again`(isThere: Bool) throws {
        let directory = try TemporaryDirectory()
        let key = directory.file("new-key")
        if isThere { _ = try KeySource.file(key).create(KeySourceContext(directory: directory.path, storeID: [])) }
        var options = TestStore.options(TestClock())
        options.keySource = .file(key)
        let step = Migration(name: "V999", sql: "BROKEN", readerFloor: 0, writerFloor: 0, isIrreversible: false)
        options.schema = Schema(migrations: Migration.all + [step])
        let path = StorePath(directory.file("tokenstore.db"))
        #expect(throws: TokenStoreError.self) { try TokenStore.open(at: path, options: options) }
        #expect(FileManager.default.fileExists(atPath: key) == isThere)
        options.schema = .current
        _ = try TokenStore.open(at: path, options: options)
        #expect(FileManager.default.fileExists(atPath: key))
    }

    @Test func `a key file that was made for a rekey that is refused goes again`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let key = fixture.directory.file("new-key")
        let connection = try Database.Connection(
            path: fixture.path.database,
            mode: .readWrite,
            busyTimeout: .seconds(5)
        )
        try connection.execute("UPDATE data_key SET wrapped = x'00'")
        #expect(throws: TokenStoreError.self) { try fixture.store.rekey(to: .file(key)) }
        #expect(!FileManager.default.fileExists(atPath: key))
    }

    @Test func `a store that was open when the key source changed keeps working`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        #expect(try fixture.request("s1") == .hit("a"))
        let other = try fixture.another()
        _ = try other.rekey(to: .file(fixture.directory.file("other-key")))
        _ = try other.rekey()
        #expect(try fixture.request("s1") == .hit("a"))
        try fixture.take(.newcomer)
        #expect(try other.accounts().count == 2)
        #expect(try other.check() == [])
    }

    /// The locks that this process has on the index of a store's log, by the bytes they cover.
    private static func locks(onIndexOf path: StorePath) throws -> [Substring] {
        let file = try #require(FileStatus(path.sharedMemory)).identity.inode
        let text = try String(contentsOfFile: "/proc/locks", encoding: .utf8)
        return text.split(separator: "\n").filter { $0.contains(":\(file) ") && $0.contains(" \(getpid()) ") }
            .map { $0.drop { $0 != "P" } }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/locks"), "the kernel tells of locks"))
    func `a look for other stores under a key keeps the locks of this one`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let before = try Self.locks(onIndexOf: fixture.path)
        #expect(!before.isEmpty)
        _ = try fixture.store.rekey(to: .file(fixture.directory.file("other-key")), afterLeak: true)
        #expect(try Self.locks(onIndexOf: fixture.path) == before)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/locks"), "the kernel tells of locks"))
    func `a look whether a log is in use keeps the locks of this process`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let before = try Self.locks(onIndexOf: fixture.path)
        #expect(!before.isEmpty)
        let log = try #require(FileStatus(fixture.path.log)).identity
        for _ in 0..<2 { #expect(try !StoreFile(path: fixture.path, timeout: .zero).emptyLog(ofReplaced: log)) }
        #expect(try Self.locks(onIndexOf: fixture.path) == before)
    }

    @Test func `a store moves to the environment, to a passphrase and back`() throws {
        let key = Data(repeating: 9, count: 32).base64EncodedString()
        let fixture = try TestStore {
            $0.environment = ["TOKENSTORE_KEY": key, "TOKENSTORE_PASSPHRASE": "correct horse battery staple"]
            $0.scryptCost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        for (source, name) in [(KeySource.environment, "environment"), (.passphrase, "passphrase"), (.file, "file")] {
            #expect(try fixture.store.rekey(to: source).keySource == name)
            #expect(try fixture.request("s1") == .hit("a"))
            let another = try fixture.another()
            #expect(try another.status().keySource == name)
            #expect(try another.accounts().count == 1)
        }
    }

    @Test func `a passphrase that was refused is not the one of the next attempt`() throws {
        let fixture = try TestStore {
            $0.keySource = .passphrase
            $0.environment = ["TOKENSTORE_PASSPHRASE": "right"]
            $0.scryptCost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
        }
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("wrong\nright\n".utf8))
        var options = fixture.options
        options.keySource = .passphrase(descriptor: pipe.fileHandleForReading.fileDescriptor)
        let error = expectError(.keyUnavailable) {
            _ = try TokenStore.open(at: fixture.path, options: options).exported()
        }
        #expect(error?.keyError?.code == .otherKey)
        for _ in 0..<2 { _ = try TokenStore.open(at: fixture.path, options: options).exported() }
    }

    @Test func `a store opened with a named key source follows a change to another kind`() throws {
        let fixture = try TestStore {
            $0.keySource = .file
            $0.environment = ["TOKENSTORE_KEY": Data(repeating: 9, count: 32).base64EncodedString()]
        }
        try fixture.take(.standardCache(.accessToken("a", "s1")))
        _ = try fixture.store.rekey(to: .environment)
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.store.accounts().count == 1)
    }

    @Test func `a rekey to a source without a key leaves the store as it was`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        expectError(.keyUnavailable) { _ = try fixture.store.rekey(to: .environment) }
        #expect(try fixture.store.status().keySource == "file")
        #expect(try fixture.another().check() == [])
    }

    /// Everything in the store of `fixture`, read with the keys of an older copy of it; nil where they do not open it.
    private func read(_ fixture: TestStore, withKeysOf old: TemporaryDirectory) throws -> String? {
        let attacker = try TemporaryDirectory()
        let database = attacker.file("tokenstore.db")
        try Shell.run("/usr/bin/sqlite3", fixture.path.database, "VACUUM INTO '\(database)'")
        try Shell.run(
            "/usr/bin/sqlite3",
            database,
            """
            PRAGMA journal_mode=WAL; ATTACH '\(old.file("tokenstore.db"))' AS old; DELETE FROM data_key;
            INSERT INTO data_key SELECT * FROM old.data_key; UPDATE store SET key_source = 'file'
            """
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: database)
        try FileManager.default.copyItem(atPath: old.file("key"), toPath: attacker.file("key"))
        do {
            return try TokenStore.open(at: StorePath(database), options: fixture.options).exportedText()
        } catch let error as TokenStoreError where error.code == .damaged {
            return nil
        }
    }

    @Test(arguments: [false, true])
    func `leaked keys open later values unless both keys are changed`(isKnown: Bool) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let leaked = try TemporaryDirectory()
        try Shell.run("/usr/bin/sqlite3", fixture.path.database, "VACUUM INTO '\(leaked.file("tokenstore.db"))'")
        try FileManager.default.copyItem(atPath: fixture.directory.file("key"), toPath: leaked.file("key"))
        let source = KeySource.file(fixture.directory.file("new-key"))
        let report = try fixture.store.rekey(to: source, afterLeak: isKnown)
        try fixture.take(.newcomer)
        #expect(try read(fixture, withKeysOf: leaked)?.contains("rn") == (isKnown ? nil : true))
        #expect(try fixture.another().check() == [])
        #expect(try !fixture.store.status().isRekeyUnfinished)
        #expect(isKnown == (report.resealed > 0))
        #expect(report.note?.contains("sign out and in again") == isKnown)
    }

    @Test func `after a leak the same key is refused`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let key = fixture.directory.file("copy")
        try FileManager.default.copyItem(atPath: fixture.directory.file("key"), toPath: key)
        for source in [nil, KeySource.file, .file(key)] {
            expectError(.failure) { _ = try fixture.store.rekey(to: source, afterLeak: true) }
        }
        #expect(try fixture.store.status().keySource == "file")
    }

    @Test func `the advice on the old key file names the file and other stores that use it`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let old = fixture.directory.file("key")
        let neighbour = StorePath(fixture.directory.file("neighbour.db"))
        func advice(_ name: String) throws -> String? {
            _ = try fixture.store.rekey(to: .file)
            return try fixture.store.rekey(to: .file(fixture.directory.file(name))).note
        }
        #expect(try advice("one")?.contains("no store beside it needs the old key file") == true)
        #expect(try advice("one")?.contains(old) == true)
        _ = try TokenStore.open(at: neighbour, options: fixture.options)
        let note = try #require(try advice("two"))
        #expect(note.contains(neighbour.database))
        #expect(note.contains(old))
        #expect(note.contains("keep it"))
        #expect(!note.contains("delete"))
        try FileManager.default.copyItem(atPath: old, toPath: fixture.directory.file("three"))
        #expect(try advice("three") == nil, "the same key by another name is not an old one")
    }
}

extension JSONValue {
    /// A user who signs in while a rekey is under way.
    static let newcomer = JSONValue.cache(
        refreshTokens: [.refreshToken("rn", ["home_account_id": "new.t1"])]
    )
}
