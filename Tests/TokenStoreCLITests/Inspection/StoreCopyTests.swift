import Foundation
import TestTraits
import Testing
import TokenStorage

/// Copies that a repair or an update of the store left beside it open with the keys of their time.
@Suite(.onWaitingThreads)
struct StoreCopyTests {
    private let scratch: ScratchDirectory
    private let copies: [String]

    init() throws {
        scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("purge").status == 0)
        copies = ["tokenstore.db.damaged-1790000000", "tokenstore.db.v6"]
        for name in copies { try FileManager.default.copyItem(atPath: scratch.store, toPath: scratch.path(name)) }
        try scratch.write("not ours", to: "tokenstore.db.damaged-notes")
    }

    @Test func `status lists the copies of the store`() throws {
        let status = try scratch.run("status")
        let document = try scratch.run("status", "--json").json
        let listed = (document["copies"] as? [[String: Any]])?.compactMap { $0["path"] as? String } ?? []
        for name in copies {
            #expect(status.output.contains(scratch.path(name)))
            #expect(listed.contains(scratch.path(name)))
        }
    }

    @Test func `what status advises about copies is about the same store`() throws {
        let other = try ScratchDirectory()
        let status = try other.run("status", "--store", scratch.store)
        #expect(status.output.contains("'tokenstore rekey --store \(scratch.store)'"), "\(status.output)")
    }

    @Test func `purge --all asks about the copies by name and leaves other files alone`() throws {
        let trial = try scratch.run("purge", "--all", "--dry-run")
        for name in copies { #expect(trial.output.contains("would remove \(scratch.path(name))")) }
        let files = copies.map(scratch.path).joined(separator: ", ")
        let question = ", and overwrite and remove \(files)? [y/N] "
        #expect(try scratch.runOnTerminal("purge", "--all", answers: [(question, "n\n")]).status == 9)
        #expect(try scratch.names.contains(copies[0]))
        let outcome = try scratch.run("purge", "--all", "--yes")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("removed \(scratch.path(copies[0]))"))
        #expect(outcome.error.contains(scratch.path("tokenstore.db.damaged-notes")))
        #expect(try scratch.names.filter { $0.hasPrefix("tokenstore.db.") } == ["tokenstore.db.damaged-notes"])
    }

    @Test func `purge --all removes the copies of a store that is gone`() throws {
        for name in try scratch.names where ["", "-wal", "-shm"].map({ "tokenstore.db" + $0 }).contains(name) {
            try FileManager.default.removeItem(atPath: scratch.path(name))
        }
        let trial = try scratch.run("purge", "--all", "--dry-run")
        for name in copies { #expect(trial.output.contains("would remove \(scratch.path(name))")) }
        #expect(try scratch.run("purge", "--all", "--yes").status == 0)
        #expect(try scratch.names.filter { $0.hasPrefix("tokenstore.db") } == ["tokenstore.db.damaged-notes"])
    }

    @Test func `rekey removes copies with --yes, and else says that they stay`() throws {
        let left = try scratch.run("rekey")
        #expect(left.status == 0)
        for name in copies {
            #expect(left.error.contains("\(scratch.path(name)) was not removed, and opens with the old keys"))
        }
        let trial = try scratch.run("rekey", "--dry-run")
        #expect(trial.output.contains("would ask whether to remove \(scratch.path(copies[0]))"))
        #expect(try scratch.names.contains(copies[0]))
        let removed = try scratch.run("rekey", "--yes", "--json")
        #expect(removed.status == 0)
        #expect(try removed.json["removedFiles"] as? [String] == copies.map(scratch.path))
        #expect(try scratch.names.filter { $0.hasPrefix("tokenstore.db.") } == ["tokenstore.db.damaged-notes"])
    }

    @Test(arguments: [false, true])
    func `the advice on the old key names the copies that stay`(removes: Bool) throws {
        let source = "file:" + scratch.path("new.key")
        let words = ["rekey", "--leaked", "--key", source, "--json"] + (removes ? ["--yes"] : [])
        let environment = ["TOKENSTORE_PATH": scratch.store]
        let outcome = try Command(arguments: words, environment: environment).run(in: scratch)
        #expect(outcome.status == 0, "\(outcome.error)")
        let note = try #require(try outcome.json["note"] as? String)
        for name in copies { #expect(note.contains(scratch.path(name)) == !removes, "\(note)") }
        #expect(note.contains("still needs the old key file") == !removes, "\(note)")
    }

    @Test func `a rekey is done, and told, although its copies cannot be removed now`() throws {
        let lock = try KernelLock(.schema, of: StorePath(scratch.store), timeout: .seconds(5))
        let outcome = try scratch.run("rekey", "--yes", "--timeout", "1")
        withExtendedLifetime(lock) {}
        #expect(outcome.status == 0)
        #expect(outcome.error.contains("not all of its copies were removed, as another process"))
        for name in copies { #expect(outcome.error.contains("\(scratch.path(name)) was not removed")) }
        #expect(try scratch.names.contains(copies[0]))
    }

    @Test func `rekey asks about copies on a terminal`() throws {
        let question = "Overwrite and remove that as well? [y/N] "
        #expect(try scratch.runOnTerminal("rekey", answers: [(question, "n\n")]).status == 0)
        #expect(try scratch.names.contains(copies[0]))
        #expect(try scratch.runOnTerminal("rekey", answers: [(question, "y\n")]).status == 0)
        #expect(try !scratch.names.contains(copies[0]))
    }
}
