import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// A rollback journal that somebody put beside a database: SQLite plays one back before it reads the first page.
@Suite(.aboutFiles("a server has no journal beside it"))
struct PlantedJournalTests {
    /// A closed store with a journal that names a file elsewhere.
    private final class Scene {
        let fixture: TestStore
        let elsewhere: TemporaryDirectory
        let named: DamagedFile

        init() throws {
            fixture = try TestStore.closed(.standardCache(.accessToken("a", "s1")))
            elsewhere = try TemporaryDirectory()
            named = DamagedFile(try elsewhere.write("precious", to: "named"))
            try DamagedFile(fixture.path.database).plantJournal(naming: named.path)
        }
    }

    enum Way: CaseIterable {
        case open, inspect, migrate, planRepair, repair, restoreFrom, restoreOver, purgeAll

        /// The kind of error that it ends with; nil where it does what it is for.
        var outcome: StoreErrorKind? {
            switch self {
            case .open, .inspect, .migrate, .restoreFrom: .damaged
            case .restoreOver: .failure
            case .planRepair, .repair, .purgeAll: nil
            }
        }

        func go(_ fixture: TestStore, _ elsewhere: TemporaryDirectory) throws {
            let (path, options) = (fixture.path, fixture.options)
            switch self {
            case .open: _ = try TokenStore.open(at: path, options: options)
            case .inspect: _ = try TokenStore.inspect(at: path, options: options)?.check()
            case .migrate: _ = try TokenStore.migrate(at: fixture.location, options: options)
            case .planRepair:
                #expect(try TokenStore.planRepair(at: path, options: options).lostSignIns.isEmpty)
            case .repair:
                #expect(try TokenStore.repair(at: path, options: options).lost.isEmpty)
                #expect(try fixture.another().accounts().count == 1)
            case .restoreFrom:
                let new = StorePath(elsewhere.file("new.db"))
                _ = try TokenStore.restore(from: path.database, to: new, options: options)
            case .restoreOver:
                let other = try TestStore(.standardCache(.accessToken("a", "s1")))
                let backup = elsewhere.file("backup")
                _ = try other.store.backUp(to: backup)
                _ = try TokenStore.restore(from: backup, to: path, options: options)
            case .purgeAll:
                #expect(try TokenStore.purgeAll(at: path, options: options).removedFiles.contains(path.database))
            }
        }
    }

    @Test(arguments: Way.allCases) func `a file that a journal names is never opened or deleted`(way: Way) throws {
        let scene = try Scene()
        if let kind = way.outcome {
            let before = try DirectorySnapshot(scene.fixture.directory.path)
            expectError(kind) { try way.go(scene.fixture, scene.elsewhere) }
            let after = try DirectorySnapshot(scene.fixture.directory.path)
            for name in before.names { #expect(after.bytes(name) == before.bytes(name), "\(name)") }
        } else {
            try way.go(scene.fixture, scene.elsewhere)
        }
        #expect(try scene.named.bytes() == Array("precious".utf8))
    }

    @Test func `a store with such a journal is offered for a repair`() throws {
        let fixture = try Scene().fixture
        let error = expectError(.damaged) { _ = try TokenStore.open(at: fixture.path, options: fixture.options) }
        #expect(error?.remedy == .repair)
    }

    @Test func `a repair rolls back what a journal holds, and opens no file that it names`() throws {
        let fixture = try TestStore.closed(RepairTests.crowd)
        let named = DamagedFile(try fixture.directory.write("precious", to: "named"))
        let shell = try SQLiteShell(fixture.path.database)
        try shell.run("PRAGMA journal_mode = DELETE;")
        try shell.run(
            "PRAGMA cache_size = 1; BEGIN; DELETE FROM refresh_token; DELETE FROM access_token; CREATE TABLE x (y); "
                + "INSERT INTO x SELECT randomblob(9000) FROM account; SELECT 1;"
        )
        shell.kill()
        try DamagedFile(fixture.path.database + "-journal").addSuperJournal(named.path)
        let report = try TokenStore.repair(at: fixture.path, options: fixture.options)
        #expect(report.lostSignIns.isEmpty)
        #expect(try fixture.another().status().refreshTokens == 60)
        #expect(try fixture.another().check() == [])
        #expect(try named.bytes() == Array("precious".utf8))
        // Nor does another program that opens the damaged file.
        try Shell.run("/usr/bin/sqlite3", report.damagedCopy, "PRAGMA schema_version")
        #expect(try named.bytes() == Array("precious".utf8))
        let journal = report.damagedCopy + ".journal"
        #expect(FileManager.default.fileExists(atPath: journal))
        let copies = try TokenStore.removeCopies(at: fixture.path, options: fixture.options)
        #expect(copies == StoreCopies(removed: [report.damagedCopy]))
        #expect(!FileManager.default.fileExists(atPath: journal))
    }

    @Test func `a damaged first page lets no journal be played back`() throws {
        let scene = try Scene()
        let database = DamagedFile(scene.fixture.path.database)
        try database.change { $0.replaceSubrange(0..<4, with: [1, 2, 3, 4]) }
        let before = try database.bytes()
        for isInspection in [true, false] {
            expectError(.damaged) {
                if isInspection {
                    _ = try TokenStore.inspect(at: scene.fixture.path, options: scene.fixture.options)
                } else {
                    _ = try TokenStore.open(at: scene.fixture.path, options: scene.fixture.options)
                }
            }
        }
        #expect(try database.bytes() == before)
        #expect(try !DamagedFile(database.path + "-journal").bytes().isEmpty)
        #expect(try scene.named.bytes() == Array("precious".utf8))
    }
}
