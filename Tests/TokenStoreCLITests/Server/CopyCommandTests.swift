import Foundation
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// What a copy from a file to a file says of one of the two.
@Suite(.onWaitingThreads)
struct CopyCommandTests {
    /// A directory with a file of an older version.
    private func oldFile() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try OldStore.make(at: StorePath(scratch.store), version: 13, rows: .twelveAccounts)
        return scratch
    }

    @Test func `a file of an older version is brought up to date by the command that the hint names`() throws {
        let scratch = try oldFile()
        let outcome = try scratch.run("list")
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("run 'tokenstore migrate', which brings it up to date"), "\(outcome.error)")
        #expect(try scratch.run("migrate").status == 0)
        #expect(try scratch.run("list", "--json").json["total"] as? Int == 12)
    }

    @Test func `a copy of a file of an older version changes nothing and says how it goes`() throws {
        let scratch = try oldFile()
        let target = scratch.path("new/tokenstore.db")
        let before = try scratch.contents("tokenstore.db")
        for options in [["--dry-run"], ["--yes"], ["--undo", "--yes"]] {
            let places = options.contains("--undo") ? [scratch.store] : [scratch.store, target]
            let outcome = try scratch.command(["copy"] + options + places)
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("'tokenstore migrate --store \(scratch.store)'"), "\(outcome.error)")
        }
        #expect(try scratch.contents("tokenstore.db") == before)
        #expect(try scratch.run("migrate", "--store", scratch.store).status == 0)
        let copied = try scratch.run("copy", "--yes", scratch.store, target)
        #expect(copied.status == 0, "\(copied.error)")
        #expect(copied.output.hasPrefix("moved 12 accounts"), "\(copied.output)")
    }

    @Test func `advice about a source names it and the option for its key`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let target = scratch.path("new/tokenstore.db")
        try FileManager.default.moveItem(atPath: scratch.path("key"), toPath: scratch.path("moved"))
        let keyless = try scratch.run("copy", "--yes", scratch.store, target)
        #expect(keyless.status == 7)
        #expect(keyless.error.contains("such as --source-key file:PATH"), "\(keyless.error)")
        try FileManager.default.moveItem(atPath: scratch.path("moved"), toPath: scratch.path("key"))
        try scratch.execute("UPDATE access_token SET secret = zeroblob(length(secret))")
        let damaged = try scratch.run("copy", "--yes", scratch.store, target)
        #expect(damaged.status == 6)
        #expect(damaged.error.contains("check --repair --store \(scratch.store)'"), "\(damaged.error)")
    }

    @Test func `a dry run refuses an empty store whose key cannot be had, as the move does`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let (target, key) = (scratch.path("target.db"), scratch.path("target.key"))
        #expect(try scratch.run("init", "--store", target, "--key", "file:\(key)").status == 0)
        let plan = try scratch.run("copy", "--dry-run", scratch.store, target)
        #expect(plan.output.hasPrefix("would move 1 account, "), "\(plan.error)")
        try FileManager.default.removeItem(atPath: key)
        let trial = try scratch.run("copy", "--yes", "--dry-run", scratch.store, target)
        let outcome = try scratch.run("copy", "--yes", scratch.store, target)
        #expect(outcome.status == 7, "\(outcome.error)")
        #expect(trial.status == 7, "\(trial.output)")
        #expect(trial.output.isEmpty)
        #expect(trial.error == outcome.error)
        #expect(try scratch.run("status", "--json").json["movedTo"] is NSNull)
    }

    @Test(arguments: [[], ["--yes"], ["--dry-run"]])
    func `to take a move back that was never made does nothing and says so`(options: [String]) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.command(["copy", "--undo", scratch.store] + options)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.hasSuffix(" was not moved; nothing was done\n"), "\(outcome.output)")
        #expect(try scratch.run("copy", "--undo", "--json", scratch.store).json["movedTo"] is NSNull)
    }
}
