import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct ArgumentTests {
    @Test(arguments: [
        ["frob"], ["list", "--bogus"], ["list", "--limit", "x"], ["list", "--limit", "-1"],
        ["list", "--timeout", "-1"],
        ["list", "--key", "nonsense"], ["list", "--sort", "age"], ["list", "--log-level", "loud"],
        ["list", "--store", ""], ["list", "--where", "=x"], ["list", "--where", "a!=b"],
        ["purge", "--older-than", "3x"], ["purge", "--all", "--account", "mara"], ["import", "--format", "yaml"],
        ["export", ""], ["export", "--store=", "x.json"], ["--store=", "list"], ["list", "--account="],
        ["token", "--claims", "null"], ["explain", "--claims", "5"], ["exec", "--claims", "[1]", "--", "true"],
        ["credential", "aws", "--claims", "{"], ["list", "--tenant", ""], ["token", "--account", ""],
        ["purge", "--policy", "", "--yes"], ["purge", "--issuer", "", "--yes"], ["claims", "--client-id", ""],
        ["purge", "--where", "groups~=", "--yes"], ["list", "--where", "groups~= "],
        ["token", "--scope", ""], ["token", "--scope", "a", "--scope", " , "], ["exec", "--scope", "", "--", "true"],
        ["credential", "kubernetes", "--scope", ""], ["explain", "--scope", ""], ["token", "--ca-file", ""],
        ["login", "--issuer", "http://127.0.0.1:1/x", "--client-id", "app", "--scope", ""],
    ])
    func `wrong arguments end with 64 and one line with the remedy`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        let outcome = try Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store])
            .run(in: scratch)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.error.hasPrefix("tokenstore: error: "))
        #expect(outcome.error.split(separator: "\n").count == 1)
        #expect(outcome.error.contains("; "))
        #expect(try scratch.names.isEmpty)
    }

    @Test func `a name that begins with a hyphen and has an h in it asks for no help`() throws {
        let scratch = try ScratchDirectory()
        var user = CachedUser.mara
        user.username = "-dash@example.net"
        try scratch.fill(user)
        let refused = try scratch.run("claims", "-dash@example.net", "level")
        #expect(refused.status == 64)
        #expect(refused.error.contains("write -- before it, behind the options"), "\(refused.error)")
        #expect(refused.output.isEmpty)
        #expect(try scratch.run("claims", "--", "-dash@example.net", "level").output == "7\n")
        #expect(try scratch.run("claims", "-jh").output.hasPrefix("OVERVIEW: "))
    }

    @Test func `with --json wrong arguments are a JSON error`() throws {
        let outcome = try ScratchDirectory().run("list", "--json", "--bogus")
        let error = try outcome.errorJSON
        #expect(outcome.status == 64)
        #expect(error["code"] as? String == "usage")
        #expect(error["exitCode"] as? Int == 64)
        let facts: Set = ["account", "issuer", "suberror", "retryAfter"]
        #expect(Set(error.keys) == facts.union(["code", "exitCode", "message", "hint"]))
    }

    @Test(arguments: [["list", "-qj"], ["list", "-jq"], ["-qj", "list"], ["list", "-j", "-q"]])
    func `letters of options may stand together, and errors are JSON then too`(arguments: [String]) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.command(arguments + ["--account", "nobody@example.net"])
        #expect(outcome.status == 3)
        #expect(try outcome.errorJSON["code"] as? String == "no_match", "\(outcome.error)")
    }

    @Test func `an empty value behind the equals sign takes no other word with it`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.run("export", "--store=", scratch.path("new.json"))
        #expect(outcome.error.contains("--store has no value; "), "\(outcome.error)")
        #expect(try scratch.run("exec", "--scope", "tasks.read", "--", "echo", "--store=").output == "--store=\n")
    }

    @Test(arguments: ["--json", "--no-input", "--tokens"])
    func `an equals sign behind a flag is one too many`(flag: String) throws {
        let outcome = try ScratchDirectory().run("list", "\(flag)=")
        #expect(outcome.status == 64)
        #expect(outcome.error == "tokenstore: error: \(flag) takes no value; write \(flag) alone\n")
    }

    @Test func `a usage error of a command below another names the help of that one`() throws {
        let outcome = try ScratchDirectory().run("credential", "aws", "--bogus")
        #expect(outcome.error.contains("see 'tokenstore credential aws --help'"), "\(outcome.error)")
        let other = try ScratchDirectory().run("credential", "--bogus")
        #expect(other.error.contains("see 'tokenstore credential --help'"), "\(other.error)")
    }

    @Test(arguments: [["--format", "header"], ["--format", "text"], ["--env-name", "T"], ["--export"]])
    func `with --json a token is printed in no other form`(arguments: [String]) throws {
        let outcome = try ScratchDirectory().command(["token", "--json"] + arguments)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(try outcome.errorJSON["message"] as? String == "--json prints one JSON document")
    }

    @Test func `the version is one line`() throws {
        let outcome = try ScratchDirectory().run("--version")
        #expect(outcome.status == 0)
        #expect(outcome.lines.count == 1)
        #expect(outcome.output.hasPrefix("tokenstore "))
        for arguments in [["--version", "--json"], ["--json", "--version"]] {
            let json = try ScratchDirectory().command(arguments).json
            #expect(json["version"] as? String == outcome.output.split(separator: " ").last?.dropLast().description)
            #expect(json["schemaVersion"] as? Int == 1)
        }
    }

    @Test(arguments: [
        "login", "signup", "reset-password", "list", "claims", "purge", "import", "export", "status", "check", "rekey",
        "exec", "backup", "restore", "history", "credential git", "credential docker", "credential aws",
        "credential gcloud", "credential kubernetes",
    ])
    func `the help of every command has examples and the options of every command`(name: String) throws {
        let outcome = try ScratchDirectory().command(name.split(separator: " ").map(String.init) + ["--help"])
        #expect(outcome.status == 0)
        for word in [
            "EXAMPLES", "tokenstore \(name)", "--store", "--key", "--json", "--quiet", "--no-input", "--no-color",
            "--timeout", "--log-level",
        ] {
            #expect(outcome.output.contains(word))
        }
    }

    @Test func `diagnostics go to standard error, and only with an option`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("list").error.isEmpty)
        let outcome = try scratch.run("list", "--log-level", "debug")
        #expect(outcome.error.contains("tokenstore: debug: "))
        #expect(!outcome.output.contains("debug"))
    }

    @Test(arguments: ["import", "export", "backup", "restore"])
    func `an address in the place of a file is refused, and not repeated`(command: String) throws {
        let outcome = try ScratchDirectory().run(command, "postgresql://web:planted@127.0.0.1/s")
        #expect(outcome.status == 64)
        #expect(outcome.error.contains("FILE is the address of a server"), "\(outcome.error)")
        #expect(!outcome.error.contains("planted"), "\(outcome.error)")
    }
}
