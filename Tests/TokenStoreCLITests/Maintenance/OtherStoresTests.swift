import Database
import Foundation
import TestSupport
import TestTraits
import Testing

/// Promise 13 between two stores: none of them loses a file to a command about the other.
@Suite(.onWaitingThreads)
struct OtherStoresTests {
    @Test(arguments: [
        "key", "secret.key", "tokenstore.lock", "tokenstore.db-wal", "tokenstore.pending-0000000000000001",
    ])
    func `no command writes its output over a file of another store`(name: String) throws {
        let (scratch, other) = (try ScratchDirectory(), try ScratchDirectory())
        try scratch.fill(.mara)
        let key = name == "secret.key" ? ["--key", "file:\(other.path(name))"] : []
        #expect(try other.command(["import"] + key, input: CachedUser.cache([.ivo])).status == 0)
        let held = try other.holdForWriting()
        let file = other.path(name)
        if name.contains("pending") { try other.write("an answer", to: name) }
        let before = try other.contents(name)
        for command in [["export", file, "--yes"], ["token", "--scope", "tasks.read", "--output", file]] {
            let outcome = try scratch.command(command)
            #expect(outcome.status == 64, "\(command): \(outcome)")
            #expect(outcome.error.contains("is a file of a token store"), "\(command): \(outcome.error)")
        }
        #expect(try other.contents(name) == before)
        try held.execute("ROLLBACK")
        #expect(try other.run("list").status == 0)
    }

    @Test(arguments: ["tokenstore.db.new", "tokenstore.db.salvage"])
    func `a store under a name that another gives its drafts stays`(name: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        for end in ["", "-wal", "-shm"] {
            try? FileManager.default.moveItem(atPath: scratch.store + end, toPath: scratch.path(name + end))
        }
        try FileManager.default.moveItem(atPath: scratch.path("tokenstore.lock"), toPath: scratch.path(name + ".lock"))
        let made = try scratch.run("import", input: CachedUser.cache([.ivo]))
        #expect(made.status == (name.hasSuffix(".new") ? 1 : 0), "\(made)")
        for command in [["logout", "ivo@example.org", "--local-only"], ["purge", "--all", "--yes"]] {
            _ = try scratch.command(command)
        }
        #expect(try scratch.run("list", "--json", "--store", scratch.path(name)).json["total"] as? Int == 1)
    }
}
