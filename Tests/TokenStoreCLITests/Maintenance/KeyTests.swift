import Foundation
import IssuerSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct KeyTests {
    @Test func `a missing or wrong key ends with 7 and leaves the store as it was`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let database = try scratch.contents("tokenstore.db")
        let key = try scratch.contents("key")
        let other = try ScratchDirectory()
        try other.fill(.ivo)
        try scratch.overwrite("key", with: try other.contents("key"))
        for name in ["claims", "export", "check", "rekey"] {
            let outcome = try scratch.run(name, "--json")
            #expect(outcome.status == 7, "\(name)")
            #expect(try outcome.errorJSON["code"] as? String == "key_unavailable")
            #expect(try outcome.errorJSON["hint"] is String)
        }
        unlink(scratch.path("key"))
        #expect(try scratch.run("claims").status == 7)
        #expect(try scratch.contents("tokenstore.db") == database)
        try scratch.overwrite("key", with: key)
        #expect(try scratch.run("claims").status == 0)
    }

    @Test func `a passphrase comes from the environment or the terminal, and is never shown`() throws {
        let scratch = try ScratchDirectory()
        let phrase = "correct horse battery"
        try scratch.write(try CachedUser.cache([.mara]), to: "cache.json")
        let file = scratch.path("cache.json")
        let created = try scratch.runOnTerminal(
            "import",
            "--key",
            "passphrase",
            file,
            answers: [("New passphrase for the store: ", "\(phrase)\n"), ("The same again: ", "\(phrase)\n")]
        )
        #expect(created.status == 0)
        #expect(!created.output.contains(phrase))
        let variables = ["TOKENSTORE_PASSPHRASE": phrase]
        #expect(try scratch.run("claims", "mara@example.net", "level", environment: variables).output == "7\n")
        #expect(try scratch.run("claims").status == 7)
        #expect(try scratch.run("claims", environment: ["TOKENSTORE_PASSPHRASE": "wrong"]).status == 7)
        let asked = try scratch.runOnTerminal("claims", answers: [("Passphrase for the store: ", "\(phrase)\n")])
        #expect(asked.status == 0)
        #expect(asked.output.contains("finance"))
        #expect(try scratch.runOnTerminal("claims", "--no-input").status == 7)
    }

    /// The first files that the program opens, such as the store's, get these numbers.
    @Test(arguments: 3...6)
    func `a descriptor that is not open is none of the store's own files`(number: Int) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let (source, place) = ("passphrase:fd=\(number)", scratch.path("other.db"))
        let reason = "no passphrase can be read from file descriptor \(number), bad file descriptor; open it"
        for arguments in [["rekey", "--key", source], ["init", "--store", place, "--key", source]] {
            let outcome = try scratch.command(arguments)
            #expect(outcome.status == 7)
            #expect(outcome.error.contains(reason), "\(outcome.error)")
        }
        for option in ["--password-from", "--code-from"] {
            let tenant = ["login", "--native", "--authority", "http://127.0.0.1:1/tenant", "--client-id", "app"]
            let outcome = try scratch.command(tenant + ["--username", "mara@example.net", option, "\(number)"])
            #expect(outcome.status == 64)
            #expect(outcome.error.contains("descriptor \(number), which is not open"), "\(outcome.error)")
        }
    }

    @Test func `two different passphrases create nothing`() throws {
        let scratch = try ScratchDirectory()
        try scratch.write(try CachedUser.cache([.mara]), to: "cache.json")
        let outcome = try scratch.runOnTerminal(
            "import",
            "--key",
            "passphrase",
            scratch.path("cache.json"),
            answers: [("New passphrase", "one\n"), ("The same again: ", "two\n")]
        )
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("the passphrases differ"))
        #expect(try !scratch.names.contains("tokenstore.db"))
    }

    @Test func `a path that the store alone names is not one to change`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let other = try ScratchDirectory()
        try other.write("another program's", to: "settings")
        let planted = other.path("settings")
        chmod(planted, 0o644)
        try scratch.execute("UPDATE store SET key_source = 'file:\(planted)'")
        let outcome = try scratch.run("claims")
        #expect(outcome.status == 7)
        #expect(outcome.error.contains(planted))
        #expect(outcome.error.contains("the store names this file"), "\(outcome.error)")
        #expect(!outcome.error.contains("chmod"), "\(outcome.error)")
        #expect(try !scratch.run("status").output.contains("chmod"))
    }

    @Test(arguments: ["file:", "credential:"], ["claims", "rekey", "import"])
    func `a file that holds no key is not one to change, even if it is named`(kind: String, command: String) throws {
        let scratch = try ScratchDirectory()
        if command != "import" { try scratch.fill(.mara) }
        let other = try ScratchDirectory()
        try other.write("another program's", to: "settings")
        let planted = other.path("settings")
        chmod(planted, 0o644)
        let input = command == "import" ? try CachedUser.cache([.mara]) : ""
        let outcome = try scratch.command([command, "--key", kind + planted], input: input)
        #expect(outcome.status == 7)
        #expect(!outcome.error.contains("chmod"), "\(outcome.error)")
        #expect(!outcome.error.contains("from a copy"), "\(outcome.error)")
        let key = String(repeating: "k", count: 32)
        try other.write(key, to: "settings")
        chmod(planted, 0o644)
        let named = try scratch.command(["rekey", "--key", kind + planted])
        let mode = kind == "file:" ? "600" : "o-rwx"
        #expect(command == "import" || named.error.contains("run 'chmod \(mode) \(planted)'"), "\(named.error)")
    }

    @Test(arguments: [("claims", SIGINT), ("claims", SIGTERM), ("copy", SIGINT)])
    func `a signal that ends the program ends the program of its key, too`(
        command: String,
        signal: Int32
    ) async throws {
        let scratch = try ScratchDirectory()
        let (program, note) = (scratch.path("wrapper"), scratch.path("note"))
        func write(_ script: String) throws {
            try scratch.write("#!/bin/sh\n\(script)\n", to: "wrapper")
            try #require(chmod(program, 0o700) == 0)
        }
        try write("exec tr A-Za-z N-ZA-Mn-za-m")
        try scratch.write(try CachedUser.cache([.mara]), to: "cache.json")
        #expect(try scratch.run("import", "--key", "command:\(program)", scratch.path("cache.json")).status == 0)
        try write("echo $$ > '\(note)'; exec sleep 600")
        let source = command == "copy" ? "--source-key" : "--key"
        let places = command == "copy" ? ["--keep-source", "--yes", scratch.store, scratch.path("copy.db")] : []
        let arguments = [command] + places + [source, "command:\(program)"]
        let run = try StartedCommand(arguments, environment: ["TOKENSTORE_PATH": scratch.store], in: scratch)
        try await eventually("the program of the key") { Self.process(in: note) != nil }
        let process = try #require(Self.process(in: note))
        run.send(signal)
        try await eventually("its end") {
            // A move only stops its own work at the first signal, and ends at the second one.
            if command == "copy" { run.send(signal) }
            return kill(process, 0) != 0 || Self.isZombie(process)
        }
        #expect(try await run.end() == 128 + signal)
    }

    /// The number that a file holds, once it is there.
    private static func process(in file: String) -> Int32? {
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        return text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// Whether a process has ended, and its parent has not looked yet.
    private static func isZombie(_ process: Int32) -> Bool {
        (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.contains(") Z ") == true
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal at a prompt in the middle of work ends the program with 130`(signal: Int32) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let note = scratch.path("note")
        let script = "echo $$ > '\(note)'; exec '\(Command.binary)' rekey --key passphrase"
        let command = Command(arguments: ["-c", script], environment: ["TOKENSTORE_PATH": scratch.store])
        // One that goes on asks again.
        let end = TypedAnswer("New passphrase", "\u{4}")
        let outcome = try command.runOnTerminal(
            in: scratch,
            program: "/bin/sh",
            typing: [TypedAnswer("New passphrase", Self.send(signal, to: note)), end]
        )
        #expect(outcome.status == 130, "\(outcome.output)")
        #expect(outcome.output.contains("error: interrupted; try again"), "\(outcome.output)")
        #expect(try scratch.run("claims", "mara@example.net", "department").output == "finance\n")
    }

    /// Sends a signal to the process that a file names, and types nothing.
    private static func send(_ signal: Int32, to note: String) -> String {
        if let number = process(in: note) { kill(number, signal) }
        return ""
    }

    @Test func `Ctrl-C at the prompt ends with 130`() throws {
        let scratch = try ScratchDirectory()
        try scratch.write(try CachedUser.cache([.mara]), to: "cache.json")
        let outcome = try scratch.runOnTerminal(
            "import",
            "--key",
            "passphrase",
            scratch.path("cache.json"),
            answers: [("New passphrase", "\u{3}")]
        )
        #expect(outcome.status == 130)
    }
}
