import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Inspection reads, and leaves every byte, name and time in the directory as it was.
@Suite(.aboutFiles("a file is inspected without locks"))
struct InspectionTests {
    private func inspectEverything(_ path: StorePath, _ options: StoreOptions) throws -> [String] {
        let store = try #require(try TokenStore.inspect(at: path, options: options))
        var usernames: [String] = []
        try store.forEachAccount(withTokens: true) { usernames.append($0.account.username) }
        #expect(try store.status().accounts == usernames.count)
        #expect(try store.check() == [])
        #expect(try store.accounts(matching: .claim("name", equals: "Ada")).map(\.username) == usernames)
        for account in try store.accounts() { #expect(try store.idTokens(of: account.id).count == 1) }
        #expect(try store.select(.mostRecentlyUsed).considered.count == usernames.count)
        _ = try store.exported()
        _ = try store.events()
        _ = try store.previewPurgeExpired()
        _ = try store.previewPurge(.all)
        return usernames
    }

    private let document = JSONValue.standardCache(.accessToken("a", "s1"))

    @Test func `inspecting a closed store changes no file`() throws {
        let fixture = try TestStore.closed(document)
        let before = try DirectorySnapshot(fixture.directory.path)
        #expect(try inspectEverything(fixture.path, fixture.options) == ["ada@example.net"])
        #expect(try DirectorySnapshot(fixture.directory.path) == before)
    }

    @Test func `inspecting a store that another process has open changes no file`() throws {
        let fixture = try TestStore.closed(document)
        let other = try SQLiteShell(fixture.path.database)
        for sql in [
            "SELECT count(*) FROM account;", "BEGIN; SELECT count(*) FROM account;",
            "ROLLBACK; BEGIN IMMEDIATE; SELECT 1;",
            "UPDATE account SET username = 'half'; SELECT 1;", "ROLLBACK; UPDATE account SET id = id; SELECT 1;",
        ] {
            try other.run(sql)
            let before = try DirectorySnapshot(fixture.directory.path)
            #expect(try inspectEverything(fixture.path, fixture.options) == ["ada@example.net"])
            #expect(try DirectorySnapshot(fixture.directory.path) == before, "after \(sql)")
        }
        other.kill()
        let before = try DirectorySnapshot(fixture.directory.path)
        #expect(try inspectEverything(fixture.path, fixture.options) == ["ada@example.net"])
        #expect(try DirectorySnapshot(fixture.directory.path) == before)
    }

    @Test func `a commit in progress neither waits for an inspection nor shows in it`() throws {
        let fixture = try TestStore(document)
        try fixture.store.withWriter { session in
            try session.update("account", set: "username = 'half', username_fold = 'half'") { () throws in
                #expect(try inspectEverything(fixture.path, fixture.options) == ["ada@example.net"])
            }
        }
        #expect(try inspectEverything(fixture.path, fixture.options) == ["half"])
    }

    @Test func `an open inspection sees later commits`() throws {
        let fixture = try TestStore(document)
        let inspection = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options))
        #expect(try inspection.accounts().count == 1)
        try fixture.take(.cache(accounts: [.account(["home_account_id": "u2.t1"])]))
        #expect(try inspection.accounts().count == 2)
    }

    @Test func `a copy of the database alone is read without anything beside it`() throws {
        let fixture = try TestStore.closed(document)
        let copy = try TemporaryDirectory()
        for name in ["tokenstore.db", "key"] {
            try FileManager.default.copyItem(atPath: fixture.directory.file(name), toPath: copy.file(name))
        }
        let before = try DirectorySnapshot(copy.path)
        #expect(try inspectEverything(StorePath(copy.path), fixture.options) == ["ada@example.net"])
        #expect(try DirectorySnapshot(copy.path) == before)
    }

    @Test func `a copy of a live store with its log shows all commits and is not changed`() throws {
        let fixture = try TestStore(document)
        let copy = try TemporaryDirectory()
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path) {
            try FileManager.default.copyItem(atPath: fixture.directory.file(name), toPath: copy.file(name))
        }
        let before = try DirectorySnapshot(copy.path)
        #expect(try inspectEverything(StorePath(copy.path), fixture.options) == ["ada@example.net"])
        #expect(try DirectorySnapshot(copy.path) == before)
        withExtendedLifetime(fixture) {}
    }

    /// What may stand beside a copy of a database: what a crash or a copying program leaves.
    enum Log: String, CaseIterable {
        case none, empty, torn, header, garbage, whole
    }

    enum Index: String, CaseIterable {
        case none, empty, garbage, stale
    }

    @Test(arguments: Log.allCases, Index.allCases)
    func `a copy with any log and any index is read and not changed`(log: Log, index: Index) throws {
        let live = try TestStore(document)
        // The database alone has one account less than its log.
        #expect(try live.store.withWriter { try $0.connection.checkpointTruncating() })
        try live.take(.cache(accounts: [.account(["home_account_id": "u2.t1"])]))
        let copy = try TemporaryDirectory()
        for name in ["tokenstore.db", "key"] {
            try FileManager.default.copyItem(atPath: live.directory.file(name), toPath: copy.file(name))
        }
        let frames = try DamagedFile(live.path.log).bytes()
        try write(bytes(of: log, frames), to: copy.file("tokenstore.db-wal"))
        try write(bytes(of: index, try DamagedFile(live.path.sharedMemory).bytes()), to: copy.file("tokenstore.db-shm"))
        let before = try DirectorySnapshot(copy.path)
        var options = live.options
        options.busyTimeout = .zero
        let store = try #require(try TokenStore.inspect(at: StorePath(copy.path), options: options))
        #expect(try store.accounts().count == (log == .whole ? 2 : 1))
        #expect(try store.check() == [])
        #expect(try DirectorySnapshot(copy.path) == before)
        withExtendedLifetime(live) {}
    }

    private func bytes(of log: Log, _ frames: [UInt8]) -> [UInt8]? {
        switch log {
        case .none: nil
        case .empty: []
        case .torn: Array(frames.prefix(20))
        case .header: Array(frames.prefix(32))
        case .garbage: [UInt8](repeating: 0xA5, count: 9_000)
        case .whole: frames
        }
    }

    private func bytes(of index: Index, _ stale: [UInt8]) -> [UInt8]? {
        switch index {
        case .none: nil
        case .empty: []
        case .garbage: [UInt8](repeating: 0xA5, count: 32_768)
        case .stale: stale
        }
    }

    private func write(_ bytes: [UInt8]?, to path: String) throws {
        guard let bytes else { return }
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    @Test func `a log that is not a file is refused and not waited for`() throws {
        let fixture = try TestStore.closed(document)
        try FileManager.default.removeItem(atPath: fixture.path.log)
        #expect(mkfifo(fixture.path.log, 0o600) == 0)
        expectError(.failure) { _ = try TokenStore.inspect(at: fixture.path, options: fixture.options) }
    }

    @Test func `an inspection of a copy without an index follows a writer that comes`() throws {
        let live = try TestStore(document)
        let copy = try TemporaryDirectory()
        for name in ["tokenstore.db", "tokenstore.db-wal", "key"] {
            try FileManager.default.copyItem(atPath: live.directory.file(name), toPath: copy.file(name))
        }
        var options = live.options
        options.keepsInspectionOpen = true
        let store = try #require(try TokenStore.inspect(at: StorePath(copy.path), options: options))
        #expect(try store.accounts().count == 1)
        let other = try SQLiteShell(copy.file("tokenstore.db"))
        try other.run("UPDATE account SET id = id; SELECT 1;")
        #expect(try store.accounts().count == 1)
        try other.end()
    }

    @Test(arguments: [true, false])
    func `a read-only file in a read-only directory is read`(isCopied: Bool) throws {
        let fixture = try TestStore.closed(document)
        let manager = FileManager.default
        if isCopied {
            for name in ["tokenstore.db-wal", "tokenstore.db-shm", "tokenstore.lock"] {
                try manager.removeItem(atPath: fixture.directory.file(name))
            }
        }
        for name in try manager.contentsOfDirectory(atPath: fixture.directory.path) {
            try manager.setAttributes([.posixPermissions: 0o400], ofItemAtPath: fixture.directory.file(name))
        }
        try manager.setAttributes([.posixPermissions: 0o500], ofItemAtPath: fixture.directory.path)
        // Left read-only, the directory could not be removed.
        defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: fixture.directory.path) }
        let before = try DirectorySnapshot(fixture.directory.path)
        #expect(try inspectEverything(fixture.path, fixture.options) == ["ada@example.net"])
        #expect(try DirectorySnapshot(fixture.directory.path) == before)
    }

    @Test(
        .enabled(if: ReadOnlyMount.isPossible, "only root can mount a directory read-only"),
        arguments: [true, false]
    )
    func `a read-only file system is read, and refused for writing`(isCopied: Bool) throws {
        let fixture = try TestStore.closed(document)
        if isCopied {
            for name in ["tokenstore.db-wal", "tokenstore.db-shm"] {
                try FileManager.default.removeItem(atPath: fixture.directory.file(name))
            }
        }
        let mount = try ReadOnlyMount(fixture.directory.path)
        defer { mount.end() }
        let before = try DirectorySnapshot(mount.path)
        #expect(try inspectEverything(StorePath(mount.path), fixture.options) == ["ada@example.net"])
        let request = TokenRequest(
            clientID: "cid",
            authority: try Fixture.authority(),
            scope: "s1",
            grant: .authorizationCode
        )
        expectError(.failure) {
            _ = try TokenStore.open(at: StorePath(mount.path), options: fixture.options).save(.signIn(), for: request)
        }
        #expect(try DirectorySnapshot(mount.path) == before)
    }

    @Test func `an inspection does not keep its own process from writing`() throws {
        let fixture = try TestStore.closed(document)
        let other = try SQLiteShell(fixture.path.database)
        try other.run("UPDATE account SET id = id; SELECT 1;")
        let inspection = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options))
        #expect(try inspection.accounts().count == 1)
        let store = try TokenStore.open(at: fixture.path, options: fixture.options)
        try store.removeAccount(Fixture.account, client: "cid")
        #expect(try inspection.accounts().isEmpty)
        try other.end()
    }

    @Test func `a store opened during an inspection writes once that is over`() throws {
        let fixture = try TestStore.closed(document)
        let other = try SQLiteShell(fixture.path.database)
        try other.run("UPDATE account SET id = id; SELECT 1;")
        let inspection = try #require(try TokenStore.inspect(at: fixture.path, options: fixture.options))
        let store = try inspection.read { _ in
            let store = try TokenStore.open(at: fixture.path, options: fixture.options)
            expectError(.failure) { try store.removeAccount(Fixture.account, client: "cid") }
            return store
        }
        try store.removeAccount(Fixture.account, client: "cid")
        #expect(try store.accounts().isEmpty)
        try other.end()
    }
}
