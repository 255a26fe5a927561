import Database
import Foundation
import TestSupport
import TestTraits
import Testing

/// A writer that was killed behind the header of the log, before its first frame, keeps nobody waiting.
@Suite(.onWaitingThreads, .aboutFiles("a log of 32 bytes stands beside the database"))
struct HeaderOnlyLogTests {
    private let scratch: ScratchDirectory
    private let log: Data

    init() throws {
        scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        try scratch.write(try CachedUser.cache([.nameless]), to: "cache.json")
        let (index, header) = try Self.killedWriter(scratch)
        log = header
        try scratch.overwrite("tokenstore.db-wal", with: header)
        try scratch.overwrite("tokenstore.db-shm", with: index)
    }

    /// The index before the first write of a writer, and the header with which that write begins.
    private static func killedWriter(_ scratch: ScratchDirectory) throws -> (index: Data, header: Data) {
        let connection = try Connection(path: scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
        #expect(try connection.checkpointTruncating())
        let index = try scratch.contents("tokenstore.db-shm")
        try connection.execute("UPDATE account SET id = id")
        return (index, try scratch.contents("tokenstore.db-wal").prefix(32))
    }

    /// How the commands find the index of the log.
    enum Index: String, CaseIterable {
        /// The machine has gone down as well, or the files were copied.
        case gone

        /// As the writer left it.
        case left
    }

    private static let commands: [[String]] = [
        ["list"], ["list", "--tokens"], ["status"], ["check"], ["claims", "mara@example.net"],
        ["whoami", "--account", "mara@example.net"], ["history"], ["tag", "mara@example.net"],
        ["explain", "--scope", "tasks.read", "--account", "mara@example.net"], ["export", "-"],
        ["export", "copy.json", "--dry-run"], ["import", "cache.json", "--dry-run"], ["purge", "--dry-run"],
        ["purge", "--account", "mara@example.net", "--dry-run"], ["purge", "--all", "--dry-run"],
        ["rekey", "--dry-run"], ["check", "--repair", "--dry-run"], ["use", "mara@example.net", "--dry-run"],
        ["tag", "mara@example.net", "team=sales", "--dry-run"],
        ["logout", "mara@example.net", "--local-only", "--dry-run"], ["backup", "copy.db", "--dry-run"],
    ]

    @Test(arguments: commands, Index.allCases)
    func `what only reads succeeds at once beside a log without a frame`(arguments: [String], index: Index) throws {
        if index == .gone { try FileManager.default.removeItem(atPath: scratch.path("tokenstore.db-shm")) }
        let arguments = arguments.map { $0.hasPrefix("c") && $0.contains(".") ? scratch.path($0) : $0 }
        let database = try scratch.contents("tokenstore.db")
        let outcome = try scratch.command(arguments + ["--timeout", "0"])
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try scratch.contents("tokenstore.db") == database)
        // An import is tried in a transaction, and taken back.
        guard arguments.first != "import" else { return }
        #expect(try scratch.contents("tokenstore.db-wal") == log)
    }

    @Test(arguments: Index.allCases)
    func `the next writer takes a log without a frame over`(index: Index) throws {
        if index == .gone { try FileManager.default.removeItem(atPath: scratch.path("tokenstore.db-shm")) }
        #expect(try scratch.run("tag", "mara@example.net", "team=sales", "--timeout", "0").status == 0)
        #expect(try scratch.run("tag", "mara@example.net").output == "team=sales\n")
        #expect(try scratch.run("list").lines.count == 3)
    }
}
