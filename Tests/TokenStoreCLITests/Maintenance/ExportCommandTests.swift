import Foundation
import TestTraits
import Testing

@testable import TokenStoreCLI

@Suite(.onWaitingThreads)
struct ExportCommandTests {
    @Test func `a file name that begins with a combining mark is written at its path`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try FileManager.default.createDirectory(atPath: scratch.path("\u{301}a"), withIntermediateDirectories: false)
        let file = scratch.path("\u{301}a/\u{301}b.json")
        #expect(try scratch.run("export", file).status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("\u{301}a")) == ["\u{301}b.json"])
    }

    @Test func `an export has what was imported, with unknown fields`() throws {
        let scratch = try ScratchDirectory()
        var cache = try CachedUser.cache([.mara, .ivo])
        cache = "{\"HarborBucket\":{\"k\":{\"kept\":1.50}},\"" + cache.dropFirst(2)
        #expect(try scratch.run("import", input: cache).status == 0)
        let outcome = try scratch.run("export")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("1.50"))
        let document = try outcome.json
        #expect((document["RefreshToken"] as? [String: [String: Any]])?.count == 2)
        #expect(outcome.output.contains(CachedUser.mara.secret("access")))
        let copy = try ScratchDirectory()
        #expect(try copy.run("import", input: outcome.output).status == 0)
        #expect(try copy.run("list").lines.count == 3)
    }

    @Test func `an export to a file is whole and private`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.write("old", to: "cache.json")
        let outcome = try scratch.run("export", scratch.path("cache.json"), "--yes")
        #expect(outcome.status == 0)
        #expect(outcome.output.isEmpty)
        #expect(try scratch.permissions("cache.json") == 0o600)
        #expect(try scratch.contents("cache.json") == Data(try scratch.run("export").output.utf8))
        #expect(try !scratch.names.contains { $0.hasSuffix(".new") })
    }

    @Test func `a file that another program makes during an export is not replaced`() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path("cache.json")
        let file = try OutputFile(path, sparing: nil, replacing: false)
        try Data("{}".utf8).withUnsafeBytes { try file.write($0) }
        try scratch.write("backup", to: "cache.json")
        let failure = #expect(throws: CommandFailure.self) { try file.commit() }
        #expect(failure?.message == "another program has made \(path) meanwhile, and it stays as it is")
        #expect(try scratch.contents("cache.json") == Data("backup".utf8))
    }

    @Test func `a symbolic link, a directory and a device are refused`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.write("untouched", to: "target")
        symlink(scratch.path("target"), scratch.path("link"))
        for path in [scratch.path("link"), scratch.path, "/dev/null"] {
            let outcome = try scratch.run("export", path)
            #expect(outcome.status == 1)
            #expect(outcome.error.contains(path))
        }
        #expect(try scratch.contents("target") == Data("untouched".utf8))
        #expect(try scratch.run("export", scratch.path("none/cache.json")).status == 1)
    }

    @Test(arguments: ["HUP", "INT"])
    func `a signal that is ignored, as by nohup, interrupts nothing`(signal: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        // They go on until the program has ended, so that some come while the file is open.
        let script = """
            trap '' \(signal)
            for round in 1 2 3 4 5; do
              "$0" export --quiet --yes "$1" & while kill -\(signal) $! 2> /dev/null; do :; done
              wait $! || exit
            done
            """
        let arguments = ["-c", script, Command.binary, scratch.path("cache.json")]
        var command = Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store])
        command.program = "/usr/bin/bash"
        let outcome = try command.run(in: scratch)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(try scratch.contents("cache.json") == Data(try scratch.run("export").output.utf8))
    }

    @Test func `with --json a file is confirmed by a document`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("export", scratch.path("cache.json"), "--json")
        #expect(try outcome.json["file"] as? String == scratch.path("cache.json"))
    }

    @Test func `a dry run to standard output looks at the store`() throws {
        let scratch = try ScratchDirectory()
        let none = try scratch.run("export", "--dry-run")
        #expect(none.status == 0)
        #expect(none.error.contains("no store at \(scratch.store)"), "\(none.error)")
        #expect(none.error.contains("would write an empty cache to standard output"), "\(none.error)")
        #expect(try scratch.names.isEmpty)
        try scratch.write("hello", to: "tokenstore.db")
        chmod(scratch.store, 0o600)
        let (trial, outcome) = (try scratch.run("export", "--dry-run"), try scratch.run("export"))
        #expect(outcome.status == 6, "\(outcome.error)")
        #expect((trial.status, trial.error, trial.output) == (outcome.status, outcome.error, ""))
        unlink(scratch.store)
        try scratch.fill(.mara)
        let promise = try scratch.run("export", "--dry-run")
        #expect(promise.error.contains("would write every token in plain text to standard output"))
        #expect(promise.output.isEmpty)
    }

    @Test func `an export to a terminal needs --yes`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let refused = try scratch.runOnTerminal("export")
        #expect(refused.status == 1)
        #expect(refused.output.contains("--yes"))
        #expect(!refused.output.contains(CachedUser.mara.secret("access")))
        #expect(try scratch.runOnTerminal("export", "--yes").output.contains(CachedUser.mara.secret("access")))
    }
}
