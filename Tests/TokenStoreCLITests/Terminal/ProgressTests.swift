import Database
import Foundation
import Synchronization
import TestTraits
import Testing

@testable import TokenStorage
@testable import TokenStoreCLI

/// Work that takes long: how far it is, and what is said of it when it is interrupted.
@Suite(.onWaitingThreads)
struct ProgressTests {
    @Test(arguments: [
        (12_345, 500_000, "entries", "importing: 12,345 of 500,000 entries, 2 %, 40 s left"),
        (250_000_000, 555_000_000, "bytes", "importing: 250 of 555 MB, 45 %, 2 s left"),
        (0, 500_000, "rows", "importing: 0 of 500,000 rows, 0 %, 3 s so far"),
        (1_000, 1_000_000, "rows", "importing: 1,000 of 1,000,000 rows, 0 %, 16 min left"),
        (500_000, 500_000, "rows", "importing: 500,000 of 500,000 rows, 100 %, writing to the disk"),
    ])
    func `a line has the total, a percentage and the time left`(done: Int, total: Int, unit: String, line: String) {
        let progress = TokenStore.Progress(done: done, total: total, unit: unit)
        #expect(ProgressLine.text("importing", progress, total: .seconds(3), phase: .seconds(1)) == line)
    }

    @Test func `a line without a total has the time that is spent`() {
        let progress = TokenStore.Progress(done: 2_048, total: nil, unit: "rows")
        let line = ProgressLine.text("repairing", progress, total: .seconds(3), phase: .seconds(1))
        #expect(line == "repairing: 2,048 rows, 3 s so far")
        #expect(ProgressLine.text("repairing", nil, total: .seconds(3), phase: .seconds(1)) == "repairing: 3 s so far")
    }

    /// Another process that writes, until it is let go.
    private final class Writer: Sendable {
        private let connection: Mutex<Connection?>

        init(_ scratch: ScratchDirectory) throws { connection = Mutex(try scratch.holdForWriting()) }

        func letGo() -> String {
            connection.withLock { $0 = nil }
            return ""
        }
    }

    /// Runs a command while another process writes, presses Ctrl-C once its progress is shown, and lets it go on.
    private func interrupt(_ scratch: ScratchDirectory, _ verb: String, _ arguments: [String]) throws -> Command.Outcome
    {
        let writer = try Writer(scratch)
        return try Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store]).runOnTerminal(
            in: scratch,
            typing: [TypedAnswer(verb + ":", "\u{03}"), TypedAnswer("^C", writer.letGo())]
        )
    }

    @Test func `an interrupted import has imported nothing, and says so`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.write(CachedUser.cache([.ivo]), to: "cache.json")
        let outcome = try interrupt(scratch, "importing", ["import", scratch.path("cache.json")])
        #expect(outcome.status == 130, "\(outcome.output)")
        #expect(outcome.output.contains("error: interrupted, and nothing was imported; run it again"))
        #expect(
            try scratch.run("list", "-o", "tsv", "--columns", "username").lines == ["USERNAME", "mara@example.net"]
        )
        #expect(try scratch.run("check").status == 0)
    }

    @Test func `an import that is interrupted while it reads the document makes no store`() throws {
        let scratch = try ScratchDirectory()
        // What takes some seconds to read.
        let numbers = String(repeating: ",1", count: Command.isShipped ? 60_000_000 : 2_500_000)
        try scratch.write(#"{"AccessToken":{},"x":[1\#(numbers)]}"#, to: "cache.json")
        let command = Command(
            arguments: ["import", scratch.path("cache.json")],
            environment: ["TOKENSTORE_PATH": scratch.store]
        )
        let outcome = try command.runOnTerminal(in: scratch, typing: [TypedAnswer("importing:", "\u{03}")])
        #expect(outcome.status == 130, "\(outcome.output)")
        #expect(outcome.output.contains("error: interrupted, and nothing was imported; run it again"))
        #expect(!FileManager.default.fileExists(atPath: scratch.store))
    }

    @Test func `interrupted work that goes on waiting says how it ends at once`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.write(CachedUser.cache([.ivo]), to: "cache.json")
        let writer = try Writer(scratch)
        let command = Command(
            arguments: ["import", scratch.path("cache.json")],
            environment: ["TOKENSTORE_PATH": scratch.store]
        )
        let outcome = try command.runOnTerminal(
            in: scratch,
            typing: [TypedAnswer("importing:", "\u{03}"), TypedAnswer("Ctrl-C again ends it at once", writer.letGo())]
        )
        #expect(outcome.status == 130, "\(outcome.output)")
        #expect(outcome.output.contains("importing: waits for others to end; Ctrl-C again ends it at once"))
        #expect(outcome.output.contains("error: interrupted, and nothing was imported; run it again"))
    }

    @Test func `an interrupted purge has deleted nothing, and says so`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        for selection in [["--policy", "b2c_1_susi"], ["--all"]] {
            let outcome = try interrupt(scratch, "deleting", ["purge", "--yes"] + selection)
            #expect(outcome.status == 130, "\(outcome.output)")
            #expect(outcome.output.contains("error: interrupted, and nothing was deleted; run it again"))
            #expect(try scratch.run("list").lines.count == 3)
        }
    }

    @Test func `an interrupted rekey says that the next one finishes it, which it does`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try interrupt(scratch, "sealing", ["rekey"])
        #expect(outcome.status == 130, "\(outcome.output)")
        #expect(outcome.output.contains("every value stays readable; run 'tokenstore rekey' to finish it"))
        #expect(try scratch.run("claims", "mara@example.net").status == 0)
        #expect(try scratch.run("rekey").output.contains("finishing a rekey that was interrupted"))
        #expect(try scratch.run("check").status == 0)
    }

    @Test func `a move that is interrupted before it has begun has moved nothing, and says so`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let target = scratch.path("new/tokenstore.db")
        let outcome = try interrupt(scratch, "moving", ["copy", "--yes", scratch.store, target])
        #expect(outcome.status == 130, "\(outcome.output)")
        #expect(outcome.output.contains("error: interrupted, and nothing was moved; run it again"), "\(outcome.output)")
        #expect(try scratch.run("status", "--json").json["movedTo"] is NSNull)
        #expect(try scratch.run("tag", "mara@example.net", "team=x").status == 0)
        #expect(try scratch.run("copy", "--yes", scratch.store, target).status == 0)
    }

    @Test func `no progress is shown in a pipe, and none of short work`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("check").error.isEmpty)
        let shown = try scratch.runOnTerminal("check", "--no-color")
        #expect(shown.output.hasSuffix("no problems\n"))
    }
}
