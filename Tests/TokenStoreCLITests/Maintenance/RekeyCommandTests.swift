import Database
import Foundation
import IssuerSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct RekeyCommandTests {
    @Test func `every value is sealed anew and stays readable`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let before = try scratch.run("export").output
        let outcome = try scratch.run("rekey", "--json")
        #expect(outcome.status == 0)
        let document = try outcome.json
        #expect((document["resealed"] as? Int) ?? 0 > 0)
        #expect(document["keySource"] as? String == "file")
        #expect(document["resumed"] as? Bool == false)
        #expect(try scratch.run("export").output == before)
    }

    @Test func `altered rows that count for nothing are left out, which a dry run says before`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let edits = try Connection(path: scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
        try edits.execute("UPDATE event SET mac = NULL WHERE id = 1")
        #expect(try scratch.run("rekey", "--dry-run", "--json").json["alteredRows"] as? Int == 1)
        let trial = try scratch.run("rekey", "--dry-run").output
        #expect(trial.contains("would leave out 1 altered row, which cannot be opened"), "\(trial)")
        let outcome = try scratch.run("rekey")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("left out 1 altered row, which cannot be opened"), "\(outcome.output)")
        #expect(try scratch.run("check").status == 0)
    }

    @Test func `a dry run promises nothing of a file that is not a token store`() throws {
        let scratch = try ScratchDirectory()
        let other = scratch.path("notes.db")
        try Data("not a database, but long enough to look like a file of one".utf8).write(to: URL(filePath: other))
        chmod(other, 0o600)
        #expect(try scratch.run("rekey", "--dry-run", "--store", other).status == 6)
        try scratch.fill(.mara)
        #expect(try scratch.run("rekey", "--dry-run").status == 0)
    }

    @Test(arguments: ["file:/nonexistent/key", "command:/nonexistent/program", "environment", "passphrase", "keychain"])
    func `a dry run refuses a source that the command refuses`(source: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcomes = try [[], ["--dry-run"]].map { try scratch.command(["rekey", "--key", source] + $0) }
        #expect(outcomes.map(\.status) == [7, 7])
        #expect(outcomes.allSatisfy { $0.output.isEmpty })
        #expect(outcomes[0].error == outcomes[1].error)
    }

    /// A store without its key, and places for a new one whose key cannot be had.
    @Test(
        arguments: [
            ["rekey"], ["rekey", "--current-key", "environment"], ["copy", "--yes", "tokenstore.db", "new/copy.db"],
            ["copy", "--yes", "--source-key", "file:kept", "--key", "environment", "tokenstore.db", "new/copy.db"],
            ["import", "--store", "new/tokenstore.db", "--key", "environment", "cache.json"],
        ]
    )
    func `a dry run refuses what the command refuses for want of a key`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.write(CachedUser.cache([.ivo]), to: "cache.json")
        try FileManager.default.moveItem(atPath: scratch.path("key"), toPath: scratch.path("kept"))
        let words = arguments.map { word in
            if word == "file:kept" { return "file:" + scratch.path("kept") }
            return word.hasSuffix(".db") || word.hasSuffix(".json") ? scratch.path(word) : word
        }
        let trial = try scratch.command(words + ["--dry-run"])
        let outcome = try scratch.command(words)
        #expect(outcome.status == 7, "\(outcome.error)")
        #expect(trial.status == 7, "\(trial.output)")
        #expect(trial.output.isEmpty)
        #expect(trial.error == outcome.error)
    }

    @Test func `a dry run refuses the key that leaked`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try FileManager.default.copyItem(atPath: scratch.path("key"), toPath: scratch.path("same"))
        for source in ["file", "file:" + scratch.path("same")] {
            let words = ["rekey", "--leaked", "--key", source]
            let (trial, outcome) = (try scratch.command(words + ["--dry-run"]), try scratch.command(words))
            #expect(outcome.status == 1)
            #expect((trial.status, trial.error, trial.output) == (outcome.status, outcome.error, ""))
        }
        #expect(try scratch.run("rekey", "--dry-run", "--json").json["keySource"] as? String == "file")
    }

    @Test func `a dry run makes no key file`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let key = scratch.path("moved.key")
        let outcome = try scratch.run("rekey", "--dry-run", "--key", "file:\(key)")
        #expect(outcome.output == "would move the key to file:\(key)\n", "\(outcome.error)")
        #expect(!FileManager.default.fileExists(atPath: key))
    }

    @Test func `--key names the new source`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("rekey", "--key", "file:\(scratch.path("moved.key"))")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("key source file:\(scratch.path("moved.key"))"))
        unlink(scratch.path("key"))
        #expect(try scratch.run("claims", "mara@example.net", "department").output == "finance\n")
    }

    @Test func `a killed rekey after a leak is finished by the same command, which says so`() async throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let before = try scratch.run("export").output
        let arguments = ["rekey", "--leaked", "--key", "file:\(scratch.path("new.key"))", "--json"]
        // A process that reads the log keeps the command waiting between its first commit and the sealing.
        let reader = try Connection(path: scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
        try reader.execute("BEGIN; SELECT count(*) FROM account")
        let started = try StartedCommand(
            arguments + ["--timeout", "600"],
            environment: ["TOKENSTORE_PATH": scratch.store],
            in: scratch
        )
        let watch = try Connection(path: scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
        try await eventually("a new data key") { try watch.integer("SELECT count(*) FROM data_key") == 2 }
        started.send(SIGKILL)
        #expect(try await started.end() == 128 + SIGKILL)
        try reader.execute("COMMIT")
        let again = try Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store]).run(in: scratch)
        #expect(again.status == 0, "\(again.error)")
        #expect(try again.json["resumed"] as? Bool == true)
        #expect((try again.json["resealed"] as? Int) ?? 0 > 0)
        #expect((try again.json["note"] as? String)?.contains("sign out and in again") == true)
        #expect(try watch.integer("SELECT count(*) FROM data_key") == 1)
        unlink(scratch.path("key"))
        #expect(try scratch.run("check").status == 0)
        #expect(try scratch.run("export").output == before)
        let third = try Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store]).run(in: scratch)
        #expect(third.status != 0, "\(third.error)")
        #expect(third.error.contains("holds the key that the store has now"), "\(third.error)")
        #expect(third.error.contains("with which the last change of the key replaced one"), "\(third.error)")
    }
}
