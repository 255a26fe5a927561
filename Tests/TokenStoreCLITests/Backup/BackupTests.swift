import Database
import Foundation
import TestSupport
import TestTraits
import Testing

/// `backup` and `restore`: a copy that is whole, and no file lost to a mistyped name.
@Suite(.onWaitingThreads)
struct BackupTests {
    private static func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        return scratch
    }

    private func usernames(_ scratch: ScratchDirectory, _ more: String...) throws -> [String] {
        let json = try scratch.command(["list", "--json"] + more).json
        return (json["accounts"] as? [[String: Any]] ?? []).compactMap { $0["username"] as? String }.sorted()
    }

    @Test func `a backup is a sealed copy, and says which key opens it`() throws {
        let scratch = try Self.filled()
        let outcome = try scratch.run("backup", scratch.path("b.db"))
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.lines.first == "backed up 2 accounts to \(scratch.path("b.db"))")
        #expect(outcome.output.contains("the key file \(scratch.path("key")) ("), "\(outcome.output)")
        #expect(try scratch.permissions("b.db") == 0o600)
        let bytes = try scratch.contents("b.db")
        #expect(!bytes.holds(Data(CachedUser.mara.secret("access").utf8)))
        #expect(try scratch.names.filter { $0.hasPrefix("b.db") } == ["b.db"])
        #expect(try usernames(scratch, "--store", scratch.path("b.db")) == ["ivo@example.org", "mara@example.net"])
        let json = try scratch.run("backup", "--json", scratch.path("c.db")).json
        #expect(json["accounts"] as? Int == 2)
        #expect(json["keySource"] as? String == "file")
        #expect(json["keyFile"] as? String == scratch.path("key"))
        #expect(json["dryRun"] as? Bool == false)
    }

    @Test func `a dry run names the file and the key as the backup does`() throws {
        let scratch = try Self.filled()
        // A path that the backup names in another way.
        let file = scratch.path("./b.db")
        let plan = try scratch.run("backup", "--dry-run", "--json", file).json
        let done = try scratch.run("backup", "--json", file).json
        for name in ["file", "accounts", "keySource", "keyFile", "keyId", "replaces"] {
            #expect("\(plan[name] ?? "")" == "\(done[name] ?? "")", "\(name)")
        }
        #expect(plan["dryRun"] as? Bool == true)
        #expect(plan["file"] as? String == scratch.path("b.db"))
        #expect(plan["keyId"] as? String != nil)
    }

    @Test func `a backup is of one moment, while another process writes and nothing is in the file yet`() throws {
        let scratch = try Self.filled()
        let writer = try scratch.holdForWriting()
        try writer.execute("DELETE FROM access_token")
        #expect(try scratch.run("backup", "--timeout", "2", scratch.path("b.db")).status == 0)
        try writer.execute("COMMIT")
        let restored = try ScratchDirectory()
        try restored.overwrite("key", with: scratch.contents("key"))
        #expect(try restored.run("restore", scratch.path("b.db")).status == 0)
        #expect(try restored.run("token", "--account", "mara@example.net", "--scope", "tasks.read").status == 0)
    }

    @Test func `an older backup is replaced only if that is said, and any other file stays`() throws {
        let scratch = try Self.filled()
        let other = try Self.filled()
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        #expect(try other.run("backup", scratch.path("other.db")).status == 0)
        try scratch.write("notes", to: "notes")
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: scratch.path("x"))
        let first = try scratch.contents("b.db")
        #expect(try scratch.run("purge", "--account", "ivo@example.org", "--yes").status == 0)
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 1)
        #expect(try scratch.contents("b.db") == first)
        let planned = try scratch.run("backup", "--dry-run", scratch.path("b.db"))
        #expect(planned.output == "would replace the backup \(scratch.path("b.db")) with 1 account\n")
        #expect(try scratch.contents("b.db") == first)
        #expect(try scratch.run("backup", "--yes", scratch.path("b.db")).status == 0)
        #expect(try scratch.contents("b.db") != first)
        let names = ["notes", "other.db", "link", "tokenstore.db", "tokenstore.lock", "key", "", "nowhere/b.db"]
        for name in names {
            let before =
                name.isEmpty || name.hasPrefix("n") ? nil : FileManager.default.contents(atPath: scratch.path(name))
            let outcome = try scratch.run("backup", "--yes", name.isEmpty ? scratch.path : scratch.path(name))
            #expect(outcome.status == 1, "\(name): \(outcome)")
            if let before { #expect(FileManager.default.contents(atPath: scratch.path(name)) == before, "\(name)") }
        }
        #expect(try scratch.contents("notes") == Data("notes".utf8))
        #expect(try other.run("backup", "--yes", scratch.store).status == 1)
    }

    @Test func `restore brings the accounts back and keeps the store that was there`() throws {
        let scratch = try Self.filled()
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        #expect(try scratch.run("purge", "--account", "ivo@example.org", "--yes").status == 0)
        let refused = try scratch.run("restore", scratch.path("b.db"))
        #expect(refused.status == 1)
        #expect(
            refused.error.contains("Replace \(scratch.store) with 1 account (mara@example.net (b2c_1_signin)) by "),
            "\(refused.error)"
        )
        let planned = try scratch.run("restore", "--dry-run", scratch.path("b.db"))
        #expect(planned.lines.first?.hasSuffix("from \(scratch.path("b.db"))") == true)
        #expect(planned.output.contains("ivo@example.org"))
        #expect(try usernames(scratch) == ["mara@example.net"])
        let restored = try scratch.run("restore", "--yes", "--json", scratch.path("b.db"))
        #expect(restored.status == 0, "\(restored.error)")
        #expect(try usernames(scratch) == ["ivo@example.org", "mara@example.net"])
        let replaced = try restored.json["replaced"] as? [String: Any]
        let kept = try #require(replaced?["keptCopy"] as? String)
        #expect(kept.hasPrefix(scratch.store + ".replaced-"))
        #expect(try usernames(scratch, "--store", kept) == ["mara@example.net"])
        #expect(try scratch.run("check").status == 0)
        #expect(try scratch.run("history", "--limit", "1", "--json").output.contains(#""kind":"restore""#))
        #expect(try scratch.run("purge", "--all", "--yes").status == 0)
        #expect(try scratch.names.allSatisfy { !$0.contains("replaced") })
    }

    @Test func `restore makes a store where there is none, even its directory`() throws {
        let scratch = try Self.filled()
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        let place = scratch.path("new/deep/tokenstore.db")
        let without = try scratch.run("restore", "--store", place, scratch.path("b.db"))
        #expect(without.status == 7)
        let trial = try scratch.run("restore", "--dry-run", "--store", place, scratch.path("b.db"))
        #expect(trial.status == 7)
        #expect(trial.error == without.error)
        #expect(without.error.contains("--key file:PATH"), "\(without.error)")
        #expect(!FileManager.default.fileExists(atPath: place))
        let key = "file:\(scratch.path("key"))"
        let restored = try scratch.run("restore", "--store", place, "--key", key, scratch.path("b.db"))
        #expect(restored.status == 0)
        #expect(try usernames(scratch, "--store", place, "--key", key).count == 2)
        // The advice to the letter, after which the store needs nobody to name its key.
        let rekey = ["rekey", "--store", place, "--current-key", key, "--key", "file"]
        #expect(restored.error.contains("'tokenstore \(rekey.joined(separator: " "))'"), "\(restored.error)")
        #expect(try scratch.command(rekey).status == 0)
        #expect(try usernames(scratch, "--store", place).count == 2)
    }

    @Test func `restore advises no other place for a key that the store finds`() throws {
        let scratch = try Self.filled()
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        let key = "file:\(scratch.path("key"))"
        let restored = try scratch.run("restore", "--yes", "--key", key, scratch.path("b.db"))
        #expect(restored.status == 0)
        #expect(!restored.error.contains("rekey"), "\(restored.error)")
    }

    @Test func `a damaged backup, or another file, changes nothing`() throws {
        let scratch = try Self.filled()
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        var bytes = try scratch.contents("b.db")
        bytes.replaceSubrange(8_192..<40_000, with: Data(repeating: 0x5A, count: 40_000 - 8_192))
        try scratch.overwrite("damaged.db", with: bytes)
        try scratch.overwrite("short.db", with: try scratch.contents("b.db").prefix(5_000))
        try scratch.write("no", to: "text")
        let before = try scratch.contents("tokenstore.db")
        for name in ["damaged.db", "short.db", "text", "nowhere", "tokenstore.db", "key"] {
            let outcome = try scratch.run("restore", "--yes", scratch.path(name))
            #expect([1, 6].contains(outcome.status), "\(name): \(outcome)")
            #expect(name != "nowhere" || outcome.error.contains("nowhere does not exist; name a file that"))
        }
        #expect(try scratch.contents("tokenstore.db") == before)
        #expect(try scratch.names.allSatisfy { !$0.contains("replaced") && !$0.hasSuffix(".new") })
    }

    @Test(arguments: [true, false])
    func `what is wrong with a backup is said of it, and not of the store`(isReplacing: Bool) throws {
        let (scratch, other) = (try Self.filled(), try ScratchDirectory())
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        let bytes = try scratch.contents("b.db")
        for length in [4_096, 20_480, bytes.count - 4_096] {
            try other.overwrite("cut.db", with: bytes.prefix(length))
            let target = isReplacing ? scratch.store : other.path("new/tokenstore.db")
            for options in [["--yes"], ["--dry-run"]] {
                let outcome = try scratch.command(["restore", other.path("cut.db"), "--store", target] + options)
                #expect(outcome.status == 6, "\(length): \(outcome)")
                #expect(outcome.error.contains("the backup \(other.path("cut.db")) is damaged"), "\(outcome.error)")
                #expect(!outcome.error.contains("repair") && !outcome.error.contains(target), "\(outcome.error)")
            }
        }
        try other.overwrite("cut.db", with: bytes)
        try Shell.run("/usr/bin/sqlite3", other.path("cut.db"), "UPDATE data_key SET wrapped = randomblob(60)")
        let keyless = try scratch.run("restore", other.path("cut.db"), "--yes")
        #expect(keyless.error.contains("the backup \(other.path("cut.db")) is damaged"), "\(keyless.error)")
        #expect(try scratch.run("check").status == 0)
        #expect(try other.names == ["cut.db"])
    }

    @Test func `a dry run refuses a backup with an altered value, as the restore does`() throws {
        let scratch = try Self.filled()
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        try Shell.run(
            "/usr/bin/sqlite3",
            scratch.path("b.db"),
            "UPDATE access_token SET target = 'tasks.write'"
        )
        for option in ["--dry-run", "--yes"] {
            let outcome = try scratch.run("restore", scratch.path("b.db"), option)
            #expect(outcome.status == 6, "\(option): \(outcome)")
        }
    }

    @Test(arguments: [
        ["purge", "--all", "--yes"], ["logout", "mara@example.net", "--local-only"], ["backup", "other.db"],
    ])
    func `what a backup left that was killed goes with the next change`(command: [String]) throws {
        let scratch = try Self.filled()
        let draft = "b.db.new-0123456789abcdef"
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        try FileManager.default.moveItem(atPath: scratch.path("b.db"), toPath: scratch.path(draft))
        let others = ["", "mine", String(repeating: "\0", count: 4_096) + "x"]
        for (number, text) in others.enumerated() { try scratch.write(text, to: "\(number).new-0123456789abcdef") }
        let words = command.map { $0 == "other.db" ? scratch.path($0) : $0 }
        #expect(try scratch.command(words).status == 0)
        #expect(try !scratch.names.contains(draft))
        for (number, text) in others.enumerated() {
            #expect(try scratch.contents("\(number).new-0123456789abcdef") == Data(text.utf8))
        }
    }

    @Test func `a store that was moved is not backed up, and an older backup of that kind is named`() throws {
        let scratch = try Self.filled()
        #expect(try scratch.run("copy", "--yes", scratch.store, scratch.path("new/")).status == 0)
        let refused = try scratch.run("backup", scratch.path("b.db"))
        #expect(refused.status == 10, "\(refused)")
        #expect(refused.error.contains(scratch.path("new/tokenstore.db")), "\(refused.error)")
        try FileManager.default.copyItem(atPath: scratch.store, toPath: scratch.path("b.db"))
        let target = scratch.path("other/tokenstore.db")
        let restored = try scratch.run("restore", scratch.path("b.db"), "--yes", "--store", target)
        #expect(restored.status == 1, "\(restored)")
        #expect(restored.error.contains("the backup \(scratch.path("b.db")) is of a store"), "\(restored.error)")
        #expect(!restored.error.contains("--undo"), "\(restored.error)")
    }

    @Test func `a backup does not take the name of an unfinished one`() throws {
        let scratch = try Self.filled()
        let outcome = try scratch.run("backup", scratch.path("store.new-2026112914413000"))
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("has the name of an unfinished backup; name another file"), "\(outcome.error)")
    }

    @Test(arguments: [["purge"], ["purge", "-a", "mara@example.net"], ["logout", "mara@example.net"], ["rekey"]])
    func `a dry run on a store that was moved ends as the command does`(command: [String]) throws {
        let scratch = try Self.filled()
        #expect(try scratch.run("copy", "--yes", scratch.store, scratch.path("new/")).status == 0)
        let trial = try scratch.command(command + ["--dry-run"])
        let outcome = try scratch.command(command + (command.count > 1 ? ["--yes"] : []))
        #expect((trial.status, outcome.status) == (10, 10), "\(trial) \(outcome)")
    }

    @Test func `a store that another program has open is not replaced`() throws {
        let scratch = try Self.filled()
        #expect(try scratch.run("backup", scratch.path("b.db")).status == 0)
        let writer = try scratch.holdForWriting()
        let outcome = try scratch.run("restore", "--yes", "--timeout", "1", scratch.path("b.db"))
        #expect(outcome.status == 5, "\(outcome)")
        try writer.execute("ROLLBACK")
        #expect(try usernames(scratch).count == 2)
    }

    @Test func `a backup under a passphrase travels with it`() throws {
        let scratch = try ScratchDirectory()
        let variables = ["TOKENSTORE_PASSPHRASE": "a b"]
        let cache = try CachedUser.cache([.mara])
        #expect(try scratch.run("import", "--key", "passphrase", environment: variables, input: cache).status == 0)
        let backup = try scratch.run("backup", scratch.path("b.db"))
        #expect(backup.output.contains("the passphrase of the store opens it"), "\(backup)")
        let other = try ScratchDirectory()
        #expect(try other.run("restore", scratch.path("b.db")).status == 7)
        #expect(try other.run("restore", scratch.path("b.db"), environment: variables).status == 0)
        #expect(try other.run("claims", "mara@example.net", "level", environment: variables).output == "7\n")
    }

    @Test func `without a store nothing is written`() throws {
        let scratch = try ScratchDirectory()
        let outcome = try scratch.run("backup", scratch.path("b.db"))
        #expect(outcome.status == 3)
        #expect(try scratch.names.isEmpty)
    }
}
