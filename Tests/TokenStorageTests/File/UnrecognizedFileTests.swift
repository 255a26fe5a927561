import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// A file in which nothing shows any more that it was a store: it stays as it is, and a backup can take its place.
@Suite(.aboutFiles("files are damaged"))
struct UnrecognizedFileTests {
    private static let zeros = [UInt8](repeating: 0, count: 8_192)

    /// A store with a backup, in whose file `change` has made something else of the bytes.
    private func damaged(_ mode: Int, _ change: (inout [UInt8]) -> Void) throws -> (TestStore, backup: String) {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let backup = fixture.directory.file("backup")
        _ = try fixture.store.backUp(to: backup)
        fixture.store.close()
        for file in [fixture.path.log, fixture.path.sharedMemory] { unlink(file) }
        try DamagedFile(fixture.path.database).change(change)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.path.database)
        return (fixture, backup)
    }

    private func expectRestored(_ fixture: TestStore, _ backup: String) throws {
        _ = try TokenStore.restore(from: backup, to: fixture.path, options: fixture.options)
        #expect(try fixture.another().accounts().count == 1)
    }

    @Test(arguments: [1, 16, 71, nil] as [Int?], [0o600, 0o644])
    func `what does not show that it is a store is to be moved away`(count: Int?, mode: Int) throws {
        let (fixture, backup) = try damaged(mode) { bytes in
            if let count { bytes.removeSubrange(count...) } else { bytes = Self.zeros }
        }
        let (path, options) = (fixture.path, fixture.options)
        let before = try DamagedFile(path.database).bytes()
        let attempts: [() throws -> Void] = [
            { _ = try TokenStore.open(at: path, options: options) },
            { _ = try TokenStore.inspect(at: path, options: options)?.accounts() },
            { _ = try TokenStore.repair(at: path, options: options) },
            { _ = try TokenStore.restore(from: backup, to: path, options: options) },
        ]
        for attempt in attempts {
            let error = expectError(.damaged, from: attempt)
            #expect(error?.remedy == .setAside(path.database), "\(String(describing: error))")
        }
        #expect(try DamagedFile(path.database).bytes() == before)
        try FileManager.default.moveItem(atPath: path.database, toPath: fixture.directory.file("aside"))
        try expectRestored(fixture, backup)
    }

    /// A store of which only the log is left, and its backup.
    private func lostButTheLog() throws -> (TestStore, backup: String, log: Data) {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let (backup, path) = (fixture.directory.file("backup"), fixture.path)
        _ = try fixture.store.backUp(to: backup)
        try fixture.take(.standardCache(.accessToken("b", "s2")))
        let log = try #require(FileManager.default.contents(atPath: path.log))
        try #require(!log.isEmpty)
        fixture.store.close()
        for file in [path.database, path.log, path.sharedMemory] { unlink(file) }
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        try #require(FileManager.default.createFile(atPath: path.log, contents: log, attributes: attributes))
        return (fixture, backup, log)
    }

    @Test func `a backup takes the place of a store of which only the log is left, and the log is kept`() throws {
        let (fixture, backup, log) = try lostButTheLog()
        let path = fixture.path
        let error = expectError(.damaged) { _ = try TokenStore.repair(at: path, options: fixture.options) }
        #expect(error?.remedy?.code == .startAnew)
        let kept = try #require(TokenStore.restore(from: backup, to: path, options: fixture.options).keptCopy)
        #expect(kept.hasSuffix("-wal") && kept.hasPrefix(path.database + ".replaced-"), "\(kept)")
        #expect(FileManager.default.contents(atPath: kept) == log)
        #expect(try fixture.another().accounts().count == 1)
        #expect(try TokenStore.inspect(at: path, options: fixture.options)?.check() == [])
        #expect(try TokenStore.removeCopies(at: path, options: fixture.options).removed == [kept])
        #expect(FileStatus.isAbsent(kept))
    }

    @Test func `the log that a restore kept is removed with the copies wherever the key is`() throws {
        let (fixture, backup, log) = try lostButTheLog()
        let path = fixture.path
        let kept = try #require(TokenStore.restore(from: backup, to: path, options: fixture.options).keptCopy)
        // No page in it names the program, and the key is in no file beside it.
        try (log.prefix(32) + Data(count: 100)).write(to: URL(filePath: kept))
        try FileManager.default.removeItem(atPath: path.directory + "/key")
        #expect(try TokenStore.removeCopies(at: path, options: fixture.options).removed == [kept])
        #expect(FileStatus.isAbsent(kept))
    }

    @Test func `a restore leaves the log of a database that came back meanwhile`() throws {
        let (fixture, backup, log) = try lostButTheLog()
        let path = fixture.path
        let error = expectError(.busy) {
            _ = try TokenStore.restore(from: backup, to: path, options: fixture.options) { _ in
                try Data("another".utf8).write(to: URL(filePath: path.database))
            }
        }
        #expect(error?.problem == "another program has just put a file at \(path.database)")
        #expect(FileManager.default.contents(atPath: path.log) == log)
        #expect(FileStatus.isAbsent(path.unfinished))
        #expect(FileManager.default.contents(atPath: path.database) == Data("another".utf8))
        #expect(try TokenStore.removeCopies(at: path, options: fixture.options) == StoreCopies(removed: [], kept: []))
    }

    @Test func `a file that shows no more than that it was a store is replaced by a backup`() throws {
        let (fixture, backup) = try damaged(0o600) { $0.removeSubrange(72...) }
        let error = expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.remedy == .repair)
        let hopeless = expectError(.damaged) { _ = try TokenStore.repair(at: fixture.path, options: fixture.options) }
        #expect(hopeless?.remedy?.code != .repair)
        try expectRestored(fixture, backup)
    }

    @Test(arguments: [0o600, 0o644], [0o700, 0o755])
    func `an empty file is replaced by a backup once nobody else may use it`(mode: Int, directory: Int) throws {
        let (fixture, backup) = try damaged(mode) { $0 = [] }
        let files = [(fixture.directory.path, directory, 0o700), (fixture.path.database, mode, 0o600)]
        try FileManager.default.setAttributes([.posixPermissions: directory], ofItemAtPath: fixture.directory.path)
        let error = expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.remedy?.code == .restore)
        for (file, found, wanted) in files where found != wanted {
            let error = expectError(.failure) {
                _ = try TokenStore.restore(from: backup, to: fixture.path, options: fixture.options)
            }
            #expect(error?.remedy == .restrictAccess(to: file, mode: String(wanted, radix: 8)))
            try FileManager.default.setAttributes([.posixPermissions: wanted], ofItemAtPath: file)
        }
        try expectRestored(fixture, backup)
    }
}
