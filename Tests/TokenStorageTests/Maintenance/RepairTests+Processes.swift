import Foundation
import OAuth
import TestSupport
import Testing
import TokenStorage

/// A repair, and other processes: one that was killed, or one that has the store open.
extension RepairTests {
    @Test func `a killed repair is finished by the next one, with the commits of the log`() throws {
        let live = try TestStore(Self.crowd)
        let fixture = try TestStore.closed(["AccessToken": [:]])
        // What a killed repair leaves at its worst moment: the log is kept aside, and the new file has no name yet.
        for (name, copy) in [
            ("tokenstore.db", "tokenstore.db"), ("tokenstore.db", "tokenstore.db.damaged-1"),
            ("tokenstore.db-wal", "tokenstore.db.damaged-1-wal"), ("key", "key"),
        ] {
            try DamagedFile(fixture.directory.file(copy)).replace(with: DamagedFile(live.directory.file(name)).bytes())
        }
        for name in ["tokenstore.db-wal", "tokenstore.db-shm"] {
            try FileManager.default.removeItem(atPath: fixture.directory.file(name))
        }
        let (report, store) = try repaired(fixture)
        #expect(report.lost.isEmpty)
        #expect(try store.exportedText() == live.store.exportedText())
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "needs /proc"))
    func `repairs that find the file in use leave one descriptor of it open`() throws {
        let fixture = try TestStore(["AccessToken": [:]])
        var options = fixture.options
        options.busyTimeout = .milliseconds(5)
        let holder = try fixture.another()
        _ = try holder.accounts()
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))
                    == fixture.path.database
            }
        }
        func repair() { expectError(.busy) { _ = try TokenStore.repair(at: fixture.path, options: options) } }
        repair()
        let first = try descriptors()
        for _ in 0..<5 { repair() }
        #expect(first > 0)
        #expect(try descriptors() == first)
        holder.close()
    }

    @Test func `without the first page a repair keeps commits that are only in the log`() throws {
        let live = try TestStore.closed(Self.crowd)
        let writer = try live.another()
        // No page is added for it, so that the first page is not in the log.
        try writer.setTags(["team": "sales"], of: Fixture.account)
        let fixture = try TestStore.closed(["AccessToken": [:]])
        for name in ["tokenstore.db", "tokenstore.db-wal", "key"] {
            try DamagedFile(fixture.directory.file(name)).replace(with: DamagedFile(live.directory.file(name)).bytes())
        }
        writer.close()
        try FileManager.default.removeItem(atPath: fixture.directory.file("tokenstore.db-shm"))
        try DamagedFile(fixture.path.database).change {
            $0.replaceSubrange(0..<4096, with: repeatElement(0xA5, count: 4096))
        }
        let (_, saved) = try repaired(fixture)
        #expect(try saved.accounts().count == 60)
        #expect(try saved.tags(of: Fixture.account) == ["team": "sales"])
    }

    @Test func `without the first page a repair finds every row of a store that was purged before`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        // The file is written anew, and its tables begin on other pages.
        _ = try TokenStore.purgeAll(at: fixture.path, options: fixture.options)
        let writer = try fixture.another()
        try writer.take(Self.crowd.serialized)
        writer.close()
        try DamagedFile(fixture.path.database).change {
            $0.replaceSubrange(0..<4096, with: repeatElement(0xA5, count: 4096))
        }
        let (_, store) = try repaired(fixture)
        #expect(try store.accounts().count == 60)
        #expect(try store.status().refreshTokens == 60)
    }

    @Test(arguments: OldStore.versions)
    func `without the first page a repair finds every row of a store that was migrated since`(version: Int) throws {
        for isRewritten in [false, true] {
            let fixture = try TestStore(older: version)
            // As the copy is that is kept before a migration, which someone put back.
            if isRewritten { try Shell.run("/usr/bin/sqlite3", fixture.path.database, "VACUUM") }
            let writer = try fixture.another()
            let account = try #require(try writer.accounts().first).id
            try writer.setTags(["team": "sales"], of: account)
            let export = try writer.exportedText()
            writer.close()
            try DamagedFile(fixture.path.database).change {
                $0.replaceSubrange(0..<4096, with: repeatElement(0xA5, count: 4096))
            }
            let (report, store) = try repaired(fixture)
            #expect(report.lost.isEmpty)
            #expect(report.lostSignIns.isEmpty)
            #expect(try store.tags(of: account) == ["team": "sales"])
            #expect(try store.exportedText() == export)
        }
    }

    @Test func `a hard link left by a killed repair of an older version is accepted`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        let second = fixture.directory.file("tokenstore.db.damaged-1")
        #expect(link(fixture.path.database, second) == 0)
        let inspection = try TokenStore.inspect(at: fixture.path, options: fixture.options)
        #expect(try inspection?.accounts().count == 60)
        #expect(FileManager.default.fileExists(atPath: second))
        #expect(try TokenStore.open(at: fixture.path, options: fixture.options).accounts().count == 60)
        #expect(!FileManager.default.fileExists(atPath: second))
    }

    @Test func `a refused repair keeps the locks of this process`() throws {
        let fixture = try TestStore(Self.crowd)
        var options = fixture.options
        options.busyTimeout = .milliseconds(20)
        // The first refusal must not free the bytes that the second one meets.
        for _ in 1...2 {
            expectError(.busy) { _ = try TokenStore.repair(at: fixture.path, options: options) }
        }
        #expect(try fixture.store.check() == [])
    }

    @Test func `a store that another process has open is not replaced`() throws {
        let fixture = try TestStore.closed(Self.crowd)
        let other = try SQLiteShell(fixture.path.database)
        try other.run("SELECT count(*) FROM account;")
        let before = try DirectorySnapshot(fixture.directory.path)
        expectError(.busy) {
            var options = fixture.options
            options.busyTimeout = .milliseconds(20)
            _ = try TokenStore.repair(at: fixture.path, options: options)
        }
        #expect(try DirectorySnapshot(fixture.directory.path).bytes("tokenstore.db") == before.bytes("tokenstore.db"))
        try other.end()
        #expect(try repaired(fixture).report.lost.isEmpty)
    }
}
