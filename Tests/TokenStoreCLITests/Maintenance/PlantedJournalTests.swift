import Foundation
import TestSupport
import TestTraits
import Testing

/// Promise 13 for what is beside a database: a journal that somebody put there, and what another program's crash left.
@Suite(.onWaitingThreads)
struct PlantedJournalTests {
    @Test(
        arguments: [
            (["list"], 6), (["check"], 6), (["check", "--repair", "--dry-run"], 6),
            (["check", "--repair", "--yes"], 0),
            (["use", "mara@example.net"], 6), (["purge", "--all", "--dry-run"], 0), (["purge", "--all", "--yes"], 0),
        ] as [([String], Int32)]
    )
    func `no command deletes a file that a journal names`(command: [String], status: Int32) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let elsewhere = try TemporaryDirectory()
        let named = DamagedFile(try elsewhere.write("precious", to: "named"))
        try DamagedFile(scratch.store).plantJournal(naming: named.path)
        let outcome = try scratch.command(command)
        #expect(outcome.status == status, "\(outcome.error)")
        #expect(try named.bytes() == Array("precious".utf8))
        if command.contains("--repair"), status == 0 { #expect(try scratch.run("list").lines.count == 2) }
    }

    /// What a crash leaves beside the database of another program.
    enum Rest: CaseIterable {
        case log, logWithoutIndex, journal

        func make(_ name: String, in scratch: ScratchDirectory) throws {
            let shell = try SQLiteShell(scratch.path(name))
            let numbers =
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n"
            if self != .journal { try shell.run("PRAGMA journal_mode = WAL;") }
            try shell.run(
                "CREATE TABLE note (x); INSERT INTO note SELECT randomblob(3000) FROM (\(numbers)); SELECT 1;"
            )
            if self == .journal {
                try shell.run("PRAGMA cache_size = 1; BEGIN; UPDATE note SET x = randomblob(3000); SELECT 1;")
            }
            shell.kill()
            if self == .logWithoutIndex { unlink(scratch.path(name + "-shm")) }
            for file in try scratch.names { chmod(scratch.path(file), 0o600) }
        }
    }

    @Test(arguments: Rest.allCases) func `what another program's crash left is left alone`(rest: Rest) throws {
        let scratch = try ScratchDirectory()
        try rest.make("notes.db", in: scratch)
        let before = try DirectorySnapshot(scratch.path)
        try #require(before.bytes(rest == .journal ? "notes.db-journal" : "notes.db-wal")?.isEmpty == false)
        for command in [
            ["import", "-"], ["use", "a"], ["tag", "a", "b=c"], ["logout", "a"], ["migrate"], ["rekey", "--yes"],
            ["purge", "--yes"], ["purge", "--all", "--yes"], ["check", "--repair", "--yes"],
            ["token", "--scope", "s1"], ["list"], ["status"],
        ] {
            let outcome = try Command(
                arguments: command + ["--store", scratch.path("notes.db")],
                input: Data(try CachedUser.cache([.mara]).utf8)
            ).run(in: scratch)
            #expect(outcome.status == 6, "\(command): \(outcome.error)")
            let after = try DirectorySnapshot(scratch.path)
            #expect(after.names == before.names, "\(command)")
            for name in before.names { #expect(after.bytes(name) == before.bytes(name), "\(command): \(name)") }
        }
    }
}
