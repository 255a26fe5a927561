import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// Files named like answers that are not this store's: they are left alone, and no repair is made for them.
@Suite(.aboutFiles("a server has no files beside it"))
struct StrayAnswerTests {
    /// Puts a file beside the store that says that it is an answer for it.
    private func leaveAnswer(for store: TokenStore) throws -> String {
        let space = try store.reserveAnswerSpace()
        try space.publish(Array("tokenstore answer\n".utf8) + space.storeID + Array("sealed".utf8))
        return try #require(space.file?.name)
    }

    private func isThere(_ name: String) -> Bool { FileManager.default.fileExists(atPath: name) }

    /// A pipe, which nothing may be read from.
    private func leavePipe(_ fixture: TestStore) throws -> String {
        let name = fixture.path.pendingPrefix + "0000000000000001"
        try #require(mkfifo(name, 0o600) == 0)
        return name
    }

    private func copies(_ fixture: TestStore) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).filter { $0.contains(".damaged-") }
    }

    /// Without its extension the name of one is the name of the other.
    @Test(arguments: [false, true])
    func `purging everything keeps the answers of the store that has the same names`(isDamaged: Bool) throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let path = StorePath(fixture.directory.file("tokenstore"))
        try #require(path.pendingPrefix == fixture.path.pendingPrefix)
        let other = try TokenStore.open(at: path, options: fixture.options)
        let (own, others) = (try leaveAnswer(for: fixture.store), try leaveAnswer(for: other))
        other.close()
        let pipe = try leavePipe(fixture)
        if isDamaged {
            try DamagedFile(fixture.path.database).change {
                $0.replaceSubrange(100..<4_096, with: [UInt8](repeating: 7, count: 3_996))
            }
        }
        _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
        #expect(!isThere(own))
        #expect(isThere(others))
        #expect(isThere(pipe))
        _ = try TokenStore.purgeAll(at: path, options: fixture.options)
        #expect(!isThere(others))
    }

    @Test(arguments: OldStore.versions)
    func `purging everything of an older store names its answers before it takes them`(version: Int) throws {
        let fixture = try TestStore(older: version)
        let connection = try StoreFile(path: fixture.path, timeout: .zero).openForInspection().connection
        let id = try StoreHeader(connection, at: fixture.path).storeID
        let name = fixture.path.pendingPrefix + "0000000000000002"
        let bytes = Data(Array("tokenstore answer\n".utf8) + id + Array("sealed".utf8))
        #expect(FileManager.default.createFile(atPath: name, contents: bytes))
        try #require(chmod(name, 0o600) == 0)
        let trial = try TokenStore.purgeAll(at: fixture.path, options: fixture.options, dryRun: true)
        #expect(trial.removedFiles == [name])
        #expect(isThere(name))
        let purged = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
        #expect(purged.removedFiles.contains(name))
        #expect(!isThere(name))
    }

    @Test func `a store whose database no longer says which it was keeps its answers`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let answer = try leaveAnswer(for: fixture.store)
        fixture.store.close()
        let id = try #require(try PendingFile.all(of: fixture.path).first?.storeID)
        try DamagedFile(fixture.path.database).change { bytes in
            var data = Data(bytes)
            while let range = data.range(of: Data(id)) {
                data.replaceSubrange(range, with: Data(repeating: 7, count: id.count))
            }
            bytes = [UInt8](data)
            bytes.replaceSubrange(100..<4_096, with: [UInt8](repeating: 7, count: 3_996))
        }
        _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
        #expect(!isThere(fixture.path.database))
        #expect(isThere(answer))
    }

    @Test func `a sound store is not repaired for a file that is no answer of it`() throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        let pipe = try leavePipe(fixture)
        for _ in 1...2 {
            let error = expectError(.failure) {
                _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
            }
            #expect(error?.remedy?.code == .removeFile)
            #expect(error?.problem.contains(pipe) == true)
        }
        #expect(try copies(fixture).isEmpty)
        let problems = try TokenStore.inspect(at: fixture.path, options: fixture.options)?.check()
        #expect(problems?.count == 1)
        #expect(problems?.first?.remedy?.code == .removeFile)
        #expect(problems?.first?.problem.contains("move it to another directory") == true)
        #expect(isThere(pipe))
    }

    @Test func `a damaged store is repaired also beside a file that is no answer of it`() throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        let pipe = try leavePipe(fixture)
        try Shell.run(
            "/usr/bin/sqlite3",
            fixture.path.database,
            "UPDATE access_token SET secret = CAST(zeroblob(length(secret)) AS BLOB)"
        )
        _ = try TokenStore.repair(at: fixture.path, options: fixture.options)
        #expect(try copies(fixture).count == 1)
        #expect(isThere(pipe))
    }
}
