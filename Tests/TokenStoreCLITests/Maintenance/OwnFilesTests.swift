import Database
import Foundation
import TestSupport
import TestTraits
import Testing

/// Promise 13: no command deletes, replaces or repairs a file unless the file shows that it is a token store's.
@Suite(.onWaitingThreads)
struct OwnFilesTests {
    enum Foreign: String, CaseIterable {
        case sshKey, emptyFile, json, databaseOfAnotherProgram, databaseWithItsKeys, archiveWithAStore, pipe, directory
        case noise

        /// Puts the file under a name in an empty directory.
        func make(_ name: String, in scratch: ScratchDirectory) throws {
            switch self {
            case .sshKey:
                try scratch.overwrite(name, with: Data("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n".utf8))
            case .emptyFile: try scratch.overwrite(name, with: Data())
            case .json: try scratch.overwrite(name, with: Data(#"{"AccessToken":{}}"#.utf8))
            case .databaseOfAnotherProgram, .databaseWithItsKeys:
                let keys = "PRAGMA application_id = 1196444487; CREATE TABLE data_key (id INTEGER, material BLOB)"
                let table = "CREATE TABLE store (x); INSERT INTO store VALUES (1)"
                let schema = self == .databaseWithItsKeys ? keys : table
                try Shell.run("/usr/bin/sqlite3", scratch.path(name), schema)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: scratch.path(name))
            case .archiveWithAStore:
                let other = try ScratchDirectory()
                try other.fill(.mara)
                try Shell.run("/usr/bin/tar", "-cf", scratch.path(name), "-C", other.path, "tokenstore.db")
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: scratch.path(name))
            case .pipe: mkfifo(scratch.path(name), 0o600)
            case .directory: mkdir(scratch.path(name + "/tokenstore.db"), 0o700)
            case .noise:
                var generator = SeededGenerator(seed: 13)
                try scratch.overwrite(
                    name,
                    with: Data((0..<20_000).map { _ in .random(in: 0...255, using: &generator) })
                )
            }
        }
    }

    @Test(arguments: Foreign.allCases)
    func `a file that is not a token store survives purge --all and check --repair`(kind: Foreign) throws {
        let scratch = try ScratchDirectory()
        if kind == .directory { mkdir(scratch.path("file"), 0o700) }
        try kind.make("file", in: scratch)
        let before = try DirectorySnapshot(scratch.path)
        for command in [
            ["purge", "--all", "--yes"], ["purge", "--all", "--dry-run"], ["check", "--repair", "--yes"],
            ["rekey", "--yes"],
        ] {
            let outcome = try Command(arguments: command + ["--store", scratch.path("file")]).run(in: scratch)
            #expect(outcome.status == 6, "\(command): \(outcome.error)")
            #expect(outcome.error.contains(scratch.path("file")))
        }
        let after = try DirectorySnapshot(scratch.path)
        #expect(after.names == before.names, "not even a lock file")
        #expect(after.bytes("file") == before.bytes("file"))
    }

    @Test(arguments: [
        ["check", "--repair"], ["check", "--repair", "--dry-run"], ["purge"], ["rekey"], ["logout", "a"],
        ["token", "--scope", "s1"], ["list"],
    ])
    func `no command proposes to repair another program's database`(command: [String]) throws {
        let scratch = try ScratchDirectory()
        try Foreign.databaseOfAnotherProgram.make("file", in: scratch)
        let outcome = try Command(arguments: command + ["--store", scratch.path("file")]).run(in: scratch)
        #expect(outcome.status == 6)
        #expect(outcome.error.contains("not a token store") || outcome.error.contains("does not show that it is"))
        #expect(!outcome.error.contains("repair"))
    }

    @Test(arguments: ["link", "hard link"])
    func `purge --all follows no link`(kind: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.write("precious", to: "target")
        chmod(scratch.path("target"), 0o600)
        if kind == "link" {
            symlink(scratch.path("target"), scratch.path("file"))
        } else {
            link(scratch.path("target"), scratch.path("file"))
        }
        let outcome = try scratch.run("purge", "--all", "--yes", "--store", scratch.path("file"))
        #expect(outcome.status != 0)
        #expect(try scratch.contents("target") == Data("precious".utf8))
        #expect(try scratch.names == ["file", "target"])
    }

    /// What can happen to the file of a store that still shows what it was.
    enum Damage: CaseIterable {
        case firstPage, allButTheFirstBytes, aPageInTheMiddle

        func apply(to scratch: ScratchDirectory) throws {
            var bytes = try scratch.contents("tokenstore.db")
            switch self {
            case .firstPage: bytes.replaceSubrange(0..<4096, with: Data(repeating: 0xA5, count: 4096))
            case .allButTheFirstBytes: bytes = bytes.prefix(300)
            case .aPageInTheMiddle: bytes.replaceSubrange(8192..<12288, with: Data(repeating: 0xA5, count: 4096))
            }
            for suffix in ["-wal", "-shm"] { unlink(scratch.store + suffix) }
            try scratch.overwrite("tokenstore.db", with: bytes)
        }
    }

    @Test(arguments: Damage.allCases)
    func `purge --all removes a damaged store, and the next sign-in works`(damage: Damage) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try damage.apply(to: scratch)
        let trial = try scratch.run("purge", "--all", "--dry-run")
        #expect(trial.status == 0, "\(trial.error)")
        #expect(try scratch.run("purge", "--all").status == 1)
        #expect(try scratch.run("purge", "--all", "--yes").status == 0)
        try scratch.fill(.ivo)
        #expect(try scratch.run("list").lines.count == 2)
    }

    @Test func `a log without its database is removed by purge --all`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let holder = try scratch.holdForWriting()
        try holder.execute("UPDATE account SET last_used_at = 7; COMMIT")
        try #require(try scratch.contents("tokenstore.db-wal").count > 32)
        unlink(scratch.store)
        #expect(try scratch.run("list").status == 6)
        let outcome = try scratch.run("purge", "--all", "--yes")
        #expect(outcome.status == 0, "\(outcome.error)")
        try withExtendedLifetime(holder) { try scratch.fill(.ivo) }
        #expect(try scratch.run("list").lines.count == 2)
    }

    @Test(arguments: [false, true])
    func `a log of another program, without its database, is left alone`(hasLock: Bool) throws {
        let scratch = try ScratchDirectory()
        if hasLock { try scratch.write("", to: "notes.lock") }
        let shell = try SQLiteShell(scratch.path("notes.db"))
        try shell.run("CREATE TABLE note (x); PRAGMA journal_mode=WAL;")
        // Then the log has no page that names a program.
        if hasLock { try shell.run("PRAGMA wal_checkpoint(TRUNCATE);") }
        try shell.run("INSERT INTO note VALUES (1); SELECT 1;")
        let log = try scratch.contents("notes.db-wal")
        shell.kill()
        unlink(scratch.path("notes.db"))
        for command in [["import", "-"], ["purge", "--all", "--yes"]] {
            let outcome = try Command(
                arguments: command + ["--store", scratch.path("notes.db")],
                input: Data(try CachedUser.cache([.mara]).utf8)
            ).run(in: scratch)
            #expect(outcome.status == 6, "\(outcome.error)")
        }
        #expect(try scratch.contents("notes.db-wal") == log)
    }

    @Test func `an export never replaces a file of the store under any name`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("rekey", "--key", "file:\(scratch.path("moved.key"))").status == 0)
        try FileManager.default.copyItem(atPath: scratch.store, toPath: scratch.store + ".damaged-1")
        link(scratch.path("tokenstore.lock"), scratch.path("innocent.json"))
        let other = try ScratchDirectory()
        try other.fill(.ivo)
        let before = try DirectorySnapshot(scratch.path)
        let otherBefore = try other.contents("tokenstore.db")
        for name in [
            "tokenstore.db", "tokenstore.db-wal", "tokenstore.db-shm", "tokenstore.db-journal", "tokenstore.db.new",
            "tokenstore.lock", "tokenstore.db.damaged-1", "tokenstore.db.v6", "moved.key", "innocent.json",
        ].map(scratch.path) + [
            scratch.path("../\(URL(filePath: scratch.path).lastPathComponent)/tokenstore.db"), other.store,
        ] {
            let outcome = try scratch.run("export", name, "--yes")
            #expect(outcome.status == 64, "\(name): \(outcome.error)")
            #expect(outcome.error.contains(name))
        }
        let after = try DirectorySnapshot(scratch.path)
        for name in ["tokenstore.db", "tokenstore.lock", "tokenstore.db.damaged-1", "moved.key"] {
            #expect(after.bytes(name) == before.bytes(name), "\(name)")
        }
        #expect(after.names == before.names)
        #expect(try other.contents("tokenstore.db") == otherBefore)
    }

    @Test func `an export of a missing store leaves the named file as it is`() throws {
        let scratch = try ScratchDirectory()
        try scratch.write("backup", to: "cache.json")
        for name in ["cache.json", "none.json"] {
            let outcome = try scratch.run("export", scratch.path(name), "--yes")
            #expect(outcome.status == 3)
            #expect(outcome.error.contains(scratch.store))
        }
        #expect(try scratch.contents("cache.json") == Data("backup".utf8))
        #expect(try scratch.names == ["cache.json"])
    }

    @Test func `a file is replaced by an export only with --yes or an answer`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.write("backup", to: "cache.json")
        let file = scratch.path("cache.json")
        let refused = try scratch.run("export", file)
        #expect(refused.status == 1)
        #expect(refused.error.contains(file))
        #expect(refused.error.contains("--yes"))
        for quiet in [[], ["--quiet"]] {
            let trial = try scratch.command(["export", file, "--dry-run"] + quiet)
            #expect(trial.error.contains("would replace \(file)"), "\(quiet): \(trial)")
        }
        #expect(try scratch.runOnTerminal("export", file, answers: [("Replace \(file)? [y/N] ", "n\n")]).status == 9)
        #expect(try scratch.contents("cache.json") == Data("backup".utf8))
        #expect(try scratch.runOnTerminal("export", file, answers: [("Replace \(file)? [y/N] ", "y\n")]).status == 0)
        #expect(try scratch.contents("cache.json").count > 100)
        #expect(try scratch.run("export", scratch.path("new.json"), "--dry-run").status == 0)
        #expect(try !scratch.names.contains("new.json"))
    }

    @Test(arguments: ["tokenstore.db", "tokenstore.lock", "tokenstore.db-wal", "tokenstore.db.new"])
    func `a key file does not take a name of the store's other files`(name: String) throws {
        let scratch = try ScratchDirectory()
        let cache = try CachedUser.cache([.mara])
        let outcome = try scratch.run("import", "--key", "file:\(scratch.path(name))", input: cache)
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("keep the key under another"))
        try scratch.fill(.mara)
        #expect(try scratch.run("rekey", "--key", "file:\(scratch.path(name))").status == 1)
        #expect(try scratch.run("claims", "mara@example.net", "level").output == "7\n")
    }

    @Test func `a file in the way of a draft is not removed`() throws {
        let scratch = try ScratchDirectory()
        for name in ["tokenstore.db.new", "key.new"] { try scratch.write("precious", to: name) }
        let outcome = try scratch.run("import", input: try CachedUser.cache([.mara]))
        #expect(outcome.status == 1)
        #expect(outcome.error.contains(scratch.path("tokenstore.db.new")))
        unlink(scratch.path("tokenstore.db.new"))
        try scratch.fill(.mara)
        #expect(try scratch.contents("key.new") == Data("precious".utf8))
    }

    @Test(arguments: ["notes.new-wal", "notes.new-shm", "notes.new-journal"])
    func `a backup removes no file because it is named like one beside its draft`(name: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.write("mine", to: name)
        #expect(try scratch.run("backup", scratch.path("notes")).status == 0)
        #expect(try scratch.contents(name) == Data("mine".utf8))
    }

    @Test(arguments: ["tokenstore.db-shm", "tokenstore.db-journal", "tokenstore.db.new-journal"])
    func `a new store removes no file because of its name`(name: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.write("mine", to: name)
        let refused = try scratch.run("import", input: try CachedUser.cache([.mara]))
        #expect(refused.status == 1)
        #expect(refused.error.contains(scratch.path(name)))
        #expect(try scratch.contents(name) == Data("mine".utf8))
        #expect(try !scratch.names.contains("tokenstore.db"))
    }

    @Test func `what SQLite left of a database that is gone is not in the way of a new store`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        unlink(scratch.store)
        truncate(scratch.store + "-wal", 0)
        try #require(try scratch.contents("tokenstore.db-shm").count > 4)
        try scratch.fill(.ivo)
        #expect(try scratch.run("list").lines.count == 2)
    }

    @Test(arguments: ["missing", "other", "passphrase"])
    func `after a lost key and purge --all the next sign-in works`(key: String) throws {
        let scratch = try ScratchDirectory()
        let cache = try CachedUser.cache([.mara])
        let source = key == "passphrase" ? ["--key", "passphrase"] : []
        func run(_ arguments: [String], _ passphrase: String) throws -> Command.Outcome {
            try Command(
                arguments: arguments,
                environment: ["TOKENSTORE_PATH": scratch.store, "TOKENSTORE_PASSPHRASE": passphrase],
                input: Data(cache.utf8)
            ).run(in: scratch)
        }
        #expect(try run(["import"] + source, "the first").status == 0)
        switch key {
        case "missing": unlink(scratch.path("key"))
        case "other": try scratch.overwrite("key", with: Data(repeating: 7, count: 32))
        default: break
        }
        #expect(try run(["claims"], "the second").status == 7)
        #expect(try run(["import"], "the second").status == 7, "a store with sealed values gets no new key")
        #expect(try run(["purge", "--all", "--yes"], "the second").status == 0)
        for look in ["list", "status", "check", "export"] {
            #expect(try run([look], "the second").status == 0, "\(look)")
        }
        #expect(try run(["import"], "the second").status == 0)
        #expect(try run(["claims", "mara@example.net", "level"], "the second").output == "7\n")
        #expect(try run(["check"], "the second").status == 0)
        #expect(try run(["status", "--json"], "the second").json["keySource"] as? String == (source.last ?? "file"))
    }
}
