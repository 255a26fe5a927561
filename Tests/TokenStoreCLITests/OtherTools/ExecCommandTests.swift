import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing

/// A command that runs with a token in its environment.
@Suite(.onWaitingThreads)
struct ExecCommandTests {
    private static func exec(_ more: [String]) -> [String] {
        ["exec", "--account", "mara@example.net", "--scope", "tasks.read"] + more
    }

    private static func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        return scratch
    }

    private let token = CachedUser.mara.secret("access")

    @Test func `the command gets the token in its environment, and its exit status is passed on`() throws {
        let scratch = try Self.filled()
        let script = "printf '%s|%s' \"$ACCESS_TOKEN\" \"$1\"; exit 42"
        let outcome = try scratch.command(Self.exec(["--", "/bin/sh", "-c", script, "sh", "--json $(id) 'x'"]))
        #expect(outcome.status == 42)
        #expect(outcome.output == "\(token)|--json $(id) 'x'")
        #expect(outcome.error.isEmpty)
        let named = try scratch.command(Self.exec(["--env", "PGPASSWORD", "--", "env"]))
        #expect(named.lines.contains("PGPASSWORD=\(token)"))
        #expect(!named.output.contains("ACCESS_TOKEN"))
    }

    @Test func `no argument of any process has the token in it`() throws {
        let scratch = try Self.filled()
        let outcome = try scratch.command(Self.exec(["--", "/bin/cat", "/proc/self/cmdline"]))
        #expect(outcome.output == "/bin/cat\0/proc/self/cmdline\0")
    }

    @Test func `the store's passphrase and key are not handed on`() throws {
        let scratch = try ScratchDirectory()
        let secrets = ["TOKENSTORE_PASSPHRASE": "a b c d"]
        let imported = try scratch.run(
            "import",
            "--key",
            "passphrase",
            environment: secrets,
            input: CachedUser.cache([.mara])
        )
        #expect(imported.status == 0, "\(imported.error)")
        let address = "postgresql://tokenstore:hunter2@db.example.com/tokens"
        let more = ["TOKENSTORE_KEY": "x", "TOKENSTORE_DATABASE_URL": address, "KEPT": "yes"]
        let variables = more.merging(secrets) { $1 }
        let outcome = try scratch.command(Self.exec(["--", "env"]), variables)
        #expect(outcome.output.contains(token))
        #expect(outcome.lines.contains("KEPT=yes"))
        #expect(!outcome.output.contains("TOKENSTORE_PASSPHRASE"))
        #expect(!outcome.output.contains("TOKENSTORE_KEY"))
        #expect(!outcome.output.contains("TOKENSTORE_DATABASE_URL"))
        #expect(!outcome.output.contains("hunter2"))
    }

    @Test func `the file that the passphrase is read from is not handed on, another one is`() throws {
        let scratch = try ScratchDirectory()
        let cache = try CachedUser.cache([.mara])
        let made = ["TOKENSTORE_PASSPHRASE": "a b c d"]
        #expect(try scratch.run("import", "--key", "passphrase", environment: made, input: cache).status == 0)
        try scratch.write("a b c d\n", to: "phrase")
        let script = "for n in 3 4; do if eval \": <&$n\" 2>/dev/null; then echo $n; fi; done"
        let arguments = Self.exec(["--key", "passphrase:fd=3", "--", "/bin/bash", "-c", script])
        var command = Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store])
        command.files = [3: scratch.path("phrase"), 4: scratch.path("phrase")]
        let outcome = try command.run(in: scratch)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output == "4\n")
    }

    @Test func `the address of a server is not handed on, the path of a file is`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let (arguments, address) = (Self.exec(["--store", scratch.store, "--", "env"]), "postgresql://a:hunter2@db/x")
        let server = try scratch.command(arguments, ["TOKENSTORE_PATH": address])
        #expect(server.output.contains("ACCESS_TOKEN="))
        #expect(!server.output.contains("hunter2"))
        let file = try scratch.command(arguments, ["TOKENSTORE_PATH": scratch.store])
        #expect(file.lines.contains("TOKENSTORE_PATH=\(scratch.store)"))
    }

    @Test func `the command has the limit of core dumps that the program was started with`() throws {
        let scratch = try Self.filled()
        let script = #"ulimit -S -c "$(ulimit -H -c)"; ulimit -c; exec "$@""#
        let arguments = Self.exec(["--", "/bin/sh", "-c", "ulimit -S -c"])
        var command = Command(
            arguments: ["-c", script, "sh", Command.binary] + arguments,
            environment: ["TOKENSTORE_PATH": scratch.store]
        )
        command.program = "/bin/sh"
        let outcome = try command.run(in: scratch)
        #expect(outcome.lines.count == 2, "\(outcome.error)")
        #expect(outcome.lines.first == outcome.lines.last)
    }

    @Test func `without a token the command does not run`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let body = #"{"error":"invalid_grant"}"#
            scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
            let mark = scene.scratch.path("mark")
            let outcome = try await scene.run(["exec", "--scope", IssuerScene.scope.text, "--", "/usr/bin/touch", mark])
            #expect(outcome.status == 4)
            #expect(!FileManager.default.fileExists(atPath: mark))
        }
    }

    @Test(arguments: ["nosuchcommand", "/nosuch/file", "/tmp"])
    func `a command that cannot be run is exit status 1 with the reason`(program: String) throws {
        let outcome = try Self.filled().command(Self.exec(["--", program]))
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("\(program) cannot be run ("), "\(outcome.error)")
        #expect(!outcome.error.contains(token))
    }

    @Test func `a file without a first line of an interpreter is not handed to a shell`() throws {
        let scratch = try Self.filled()
        try scratch.overwrite("plain", with: Data("touch \(scratch.path("mark"))\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: scratch.path("plain"))
        let outcome = try scratch.command(Self.exec(["--", scratch.path("plain")]))
        #expect(outcome.status == 1)
        #expect(try !scratch.names.contains("mark"))
    }

    @Test(arguments: [[], ["--"], ["--", ""], ["--env", "1A", "--", "env"], ["--env", "A=B", "--", "env"]])
    func `no command, or no name of a variable, is a usage error`(arguments: [String]) throws {
        #expect(try ScratchDirectory().command(["exec"] + arguments).status == 64)
    }

    @Test func `a signal reaches the command, which is the process that was started`() async throws {
        let scratch = try Self.filled()
        let (pipe, note) = (scratch.path("note"), scratch.path("ended"))
        let script = "trap 'echo TERM > \"$2\"; exit 7' TERM; echo ready > \"$1\"; while :; do sleep 0.05; done"
        let started = try StartedCommand(
            Self.exec(["--", "/bin/sh", "-c", script, "sh", pipe, note]),
            environment: ["TOKENSTORE_PATH": scratch.store],
            in: scratch
        )
        try await eventually("the command") { FileManager.default.fileExists(atPath: pipe) }
        started.send(SIGTERM)
        #expect(try await started.end() == 7)
        #expect(try scratch.contents("ended") == Data("TERM\n".utf8))
    }

    @Test func `after a refresh signals have the effect they had, and no file of the program is open`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let script = "grep -E '^Sig(Ign|Blk)' /proc/self/status; ls /proc/self/fd"
            let command = ["exec", "--scope", IssuerScene.scope.text, "--", "/bin/sh", "-c", script]
            let outcome = try await scene.run(command)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(scene.tokenRequestCount == 1)
            // The C library has signals of its own from 32 on, which no program can set.
            let masks = outcome.lines.prefix(2).compactMap { Int($0.suffix(8), radix: 16).map { $0 & 0x7FFF_FFFF } }
            #expect(masks == [0, 0], "\(outcome.output)")
            // The fourth is the listing's own.
            #expect(outcome.lines.dropFirst(2) == ["0", "1", "2", "3"], "\(outcome.output)")
        }
    }

    @Test(.enabled(if: Tool.psql.isInstalled && Tool.python.isInstalled, "needs psql: apt install postgresql-client"))
    func `psql signs in with the token as its password`() async throws {
        let scratch = try Self.filled()
        try await FixtureServer.running("password_server.py", token, in: scratch) { port in
            let query = ["-h", "127.0.0.1", "-p", "\(port)", "-U", "mara", "-d", "tasks", "-w", "-Atc", "select 42"]
            let outcome = try await onOwnThread {
                try scratch.command(Self.exec(["--env", "PGPASSWORD", "--", "psql"] + query))
            }
            #expect(outcome.output == "42\n", "\(outcome.error)")
            #expect(try await Tool.psql.run(query, in: scratch).status != 0)
        }
    }

    @Test(.enabled(if: Tool.curl.isInstalled, "needs curl"))
    func `curl sends the token that it reads from its configuration`() throws {
        let scratch = try Self.filled()
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        let script = #"printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN" | curl -s -K - "$1""#
        let outcome = try scratch.command(Self.exec(["--", "sh", "-c", script, "sh", server.url]))
        #expect(outcome.output == "ok", "\(outcome.error)")
        #expect(server.requests.first?.contains("Authorization: Bearer \(token)\r\n") == true)
    }

    @Test(.enabled(if: Tool.direnv.isInstalled, "needs direnv: apt install direnv"))
    func `direnv takes the variable from the export`() async throws {
        let scratch = try Self.filled()
        let line = "eval \"$(tokenstore token --scope tasks.read --export --env-name API_TOKEN)\"\n"
        try scratch.write(line, to: ".envrc")
        let settings = ["XDG_DATA_HOME": scratch.path, "XDG_CONFIG_HOME": scratch.path]
        #expect(
            try await Tool.direnv.run(["allow", scratch.path(".envrc")], in: scratch, environment: settings).status == 0
        )
        let command = ["exec", scratch.path, "sh", "-c", "echo $API_TOKEN"]
        let outcome = try await Tool.direnv.run(command, in: scratch, environment: settings)
        #expect(outcome.output == token + "\n", "\(outcome.error)")
    }
}
