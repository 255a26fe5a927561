import Database
import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// A store follows its name: what it writes is where the next process looks.
@Suite(.aboutFiles("a file is replaced"))
struct ReplacedFileTests {
    private func store(_ document: JSONValue) throws -> TestStore {
        let fixture = try TestStore { $0.replacementLookInterval = .zero }
        try fixture.take(document)
        return fixture
    }

    /// Puts another store, with its key, in the place of the one that is open.
    private func replace(_ fixture: TestStore, by other: TestStore) throws {
        for name in ["tokenstore.db", "key"] {
            try DamagedFile(fixture.directory.file(name)).replace(with: DamagedFile(other.directory.file(name)).bytes())
        }
    }

    /// A restored backup of the store: the same keys, without what was stored since.
    private func backup(of fixture: TestStore) throws -> [UInt8] {
        #expect(try fixture.store.withWriter { try $0.connection.checkpointTruncating() })
        return try DamagedFile(fixture.path.database).bytes()
    }

    @Test func `after a backup is restored new writes go to the restored file`() throws {
        let fixture = try store(.standardCache(.accessToken("a", "s1")))
        let backup = try backup(of: fixture)
        #expect(try fixture.store.accounts().count == 1)
        try fixture.take(.cache(accounts: [.account(["home_account_id": "u2.t1"])]))
        #expect(try fixture.store.withWriter { try $0.connection.checkpointTruncating() })
        try DamagedFile(fixture.path.database).replace(with: backup)
        try fixture.take(.cache(accounts: [.account(["home_account_id": "u3.t1"])]))
        let ids = try fixture.another().accounts().map(\.id.homeAccountID)
        #expect(ids.sorted() == ["u1.t1", "u3.t1"])
        #expect(try fixture.store.accounts().count == 2)
        #expect(try fixture.store.check() == [])
    }

    @Test func `a reader follows to the file that replaced its own`() throws {
        let fixture = try store(.standardCache(.accessToken("a", "s1")))
        let other = try TestStore.closed(.standardCache(.accessToken("b", "s1")))
        #expect(try fixture.request("s1") == .hit("a"))
        #expect(try fixture.request("s1") == .hit("a"))
        try replace(fixture, by: other)
        #expect(try fixture.request("s1") == .hit("b"))
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["b"])
    }

    @Test func `a subscriber is told of a restored backup, and of what is stored in it from then on`() async throws {
        let fixture = try store(.standardCache(.accessToken("a", "s1")))
        let backup = try backup(of: fixture)
        for _ in 0..<5 { try fixture.signIn(.signIn()) }
        #expect(try fixture.store.withWriter { try $0.connection.checkpointTruncating() })
        var changes = try await fixture.store.changes().makeAsyncIterator()
        try DamagedFile(fixture.path.database).replace(with: backup)
        // One more than the entries that the backup does not have: that one alone had a new number.
        for _ in 0..<6 { try fixture.signIn(.signIn()) }
        #expect(await changes.next(isolation: nil) == .many)
        try fixture.signIn(.signIn())
        var change = await changes.next(isolation: nil)
        while change == .many { change = await changes.next(isolation: nil) }
        #expect(change == .signedIn(Fixture.account))
    }

    @Test func `a write to a file that is being replaced is rolled back`() throws {
        let fixture = try store(.standardCache(.accessToken("a", "s1")))
        let other = try TestStore.closed(.standardCache(.accessToken("b", "s1")))
        expectError(.busy) {
            try fixture.store.write { session in
                try session.connection.run("UPDATE account SET username = 'half', username_fold = 'half'")
                try replace(fixture, by: other)
            }
        }
        #expect(try fixture.store.accounts().map(\.username) == ["ada@example.net"])
    }

    @Test func `a replaced file that is still open is not mixed with the new one`() throws {
        let fixture = try store(.standardCache(.accessToken("a", "s1")))
        let other = try TestStore.closed(.standardCache(.accessToken("b", "s1")))
        let program = try SQLiteShell(fixture.path.database)
        try program.run("SELECT count(*) FROM account;")
        try replace(fixture, by: other)
        expectError(.busy) { _ = try fixture.store.accounts() }
        expectError(.busy) { try fixture.store.removeAccount(Fixture.account, client: "cid") }
        try program.end()
        #expect(try fixture.rows("AccessToken").map { $0["secret"] } == ["b"])
        #expect(try fixture.store.check() == [])
    }

    @Test func `a thread that notices late that the file was replaced keeps nobody from writing`() throws {
        let fixture = try store(.standardCache(.accessToken("a", "s1")))
        let other = try TestStore.closed(.standardCache(.accessToken("b", "s1")))
        var log: FileStatus.Identity?
        try fixture.store.read { log = $0.log }
        #expect(log != nil)
        try replace(fixture, by: other)
        try fixture.take(.cache(accounts: [.account(["home_account_id": "u2.t1"])]))
        // It met the old file before the new one was opened, and had no turn until now.
        var isLate = true
        try fixture.store.read { _ in
            guard isLate else { return }
            isLate = false
            throw ReplacedFile(log: log)
        }
        try fixture.take(.cache(accounts: [.account(["home_account_id": "u3.t1"])]))
        #expect(try fixture.store.accounts().map(\.id.homeAccountID).sorted() == ["u1.t1", "u2.t1", "u3.t1"])
        #expect(try fixture.store.check() == [])
    }

    @Test func `a store that is removed while it is open is not created again`() throws {
        let fixture = try store(.standardCache(.accessToken("a", "s1")))
        try FileManager.default.removeItem(atPath: fixture.path.database)
        expectError(.failure) { try fixture.store.removeAccount(Fixture.account, client: "cid") }
        expectError(.failure) { _ = try fixture.store.accounts() }
        #expect(!FileManager.default.fileExists(atPath: fixture.path.database))
    }

    @Test(
        .enabled(if: ReadOnlyMount.isPossible, "only root can mount a file system")
    )
    func `a file system that is not known to hold locks is refused and left empty`() throws {
        let mount = try ReadOnlyMount(ofKind: "hugetlbfs")
        defer { mount.end() }
        let error = expectError(.failure) {
            _ = try TokenStore.open(at: StorePath(mount.path), options: TestStore.options(TestClock()))
        }
        #expect(error?.description.contains("type 0x958458f6") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: mount.path).allSatisfy { !$0.contains(".db") })
    }

    /// As by `docker run --volume tokenstore.db:/state/tokenstore.db`.
    @Test(.enabled(if: ReadOnlyMount.isPossible, "only root can mount a file"))
    func `a database that is mounted without its directory is refused, and left without a log`() throws {
        let fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
        let place = try TemporaryDirectory()
        let mounted = try place.write("", to: "tokenstore.db")
        try Shell.run("/bin/mount", "--bind", fixture.path.database, mounted)
        // Mounted still, it could not be removed.
        defer { _ = try? Shell.run("/bin/umount", mounted) }
        for _ in 1...2 {
            let error = expectError(.failure) {
                _ = try TokenStore.open(at: StorePath(mounted), options: fixture.options)
            }
            #expect(error?.code == .unsupported)
            #expect(error?.remedy?.advice.contains("mount the directory") == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["tokenstore.db"])
        // Where it is with its directory, it stays good.
        #expect(try TokenStore.open(at: fixture.path, options: fixture.options).accounts().count == 1)
    }
}
