import Foundation
import OAuth
import TestTraits
import Testing

/// The credential helper of git, alone and with git itself.
@Suite(.onWaitingThreads)
struct GitCredentialTests {
    private static let asked = "protocol=https\nhost=git.example.com\n"
    private let token = CachedUser.mara.secret("access")

    private static func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        return scratch
    }

    private static func helper(_ more: String...) -> [String] {
        ["credential", "git", "--host", "git.example.com", "--scope", "tasks.read"] + more
    }

    @Test func `get answers with the token as the password, and when it ends`() throws {
        let outcome = try Self.filled().command(Self.helper("get"), input: Self.asked + "\n")
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.lines.prefix(2) == ["username=oauth2", "password=\(token)"])
        #expect(outcome.lines.count == 3)
        #expect(outcome.lines.last?.hasPrefix("password_expiry_utc=") == true)
    }

    @Test func `the username is that of the address, else that of the option`() throws {
        let scratch = try Self.filled()
        let named = try scratch.command(Self.helper("get"), input: Self.asked + "username=mara\n\n")
        #expect(named.lines.first == "username=mara")
        let given = try scratch.command(Self.helper("--username", "x-token", "get"), input: Self.asked)
        #expect(given.lines.first == "username=x-token")
    }

    @Test func `with --bearer a git that knows it gets a bearer token`() throws {
        let scratch = try Self.filled()
        let able = "capability[]=authtype\ncapability[]=state\n" + Self.asked
        let outcome = try scratch.command(Self.helper("--bearer", "get"), input: able)
        #expect(outcome.lines.contains("authtype=Bearer"))
        #expect(outcome.lines.contains("credential=\(token)"))
        #expect(outcome.lines.first == "capability[]=authtype")
        let old = try scratch.command(Self.helper("--bearer", "get"), input: Self.asked)
        #expect(old.lines.contains("password=\(token)"))
    }

    @Test(arguments: [
        "protocol=https\nhost=evil.example.com\n", "protocol=http\nhost=git.example.com\n",
        "protocol=https\nhost=git.example.com:8443\n", "protocol=https\nhost=git.example.com.evil.org\n",
        "protocol=https\nhost=evil@git.example.com\n", "protocol=https\nhost=git.example.com/\n",
        "protocol=ssh\nhost=git.example.com\n", "protocol=https\nhost=git.example.com\u{301}\n",
        "host=git.example.com\n",
        "protocol=https\n", "", "protocol=https\nhost=git.example.com\nhost=evil.example.com\n",
    ])
    func `another host, or one in the clear, gets nothing`(request: String) throws {
        let scratch = try Self.filled()
        for operation in ["get", "erase"] {
            let outcome = try scratch.command(Self.helper(operation), input: request + "\n")
            #expect(outcome.status == 0)
            #expect(outcome.output.isEmpty)
        }
    }

    @Test(arguments: ["store", "erase", "approve", "x"])
    func `what is not get prints nothing and keeps the token`(operation: String) throws {
        let scratch = try Self.filled()
        let request = Self.asked + "username=oauth2\npassword=something else\n\n"
        let outcome = try scratch.command(Self.helper(operation), input: request)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.isEmpty)
        #expect(try scratch.command(Self.helper("get"), input: Self.asked).output.contains(token))
    }

    @Test func `without a token git is told not to ask for a password`() throws {
        let outcome = try ScratchDirectory().command(Self.helper("get"), input: Self.asked)
        #expect(outcome.status == 3)
        #expect(outcome.output == "quit=1\n")
        #expect(outcome.error.hasPrefix("tokenstore: error: "))
    }

    @Test func `without --host it is a usage error`() throws {
        let outcome = try Self.filled().command(["credential", "git", "get"], input: Self.asked)
        #expect(outcome.status == 64)
        #expect(outcome.error.contains("--host"))
    }

    // MARK: - git itself

    @Test(.enabled(if: Tool.git.isInstalled, "needs git"))
    func `git fills in the token by the lines of the help text`() async throws {
        let scratch = try Self.filled()
        let lines = try PastedLines(under: "~/.gitconfig", of: ["credential", "git"]).text
        #expect(lines.contains("helper = !tokenstore credential git"), "\(lines)")
        try scratch.write(lines.replacing("api://git/Use", with: "tasks.read"), to: "gitconfig")
        let settings = ["GIT_CONFIG_GLOBAL": scratch.path("gitconfig"), "GIT_TERMINAL_PROMPT": "0"]
        let filled = try await Tool.git.run(
            ["credential", "fill"],
            in: scratch,
            environment: settings,
            input: Self.asked + "\n"
        )
        #expect(filled.lines.contains("password=\(token)"), "\(filled.error)")
        let other = "protocol=https\nhost=other.example.com\n\n"
        let refused = try await Tool.git.run(["credential", "fill"], in: scratch, environment: settings, input: other)
        #expect(refused.status != 0)
        #expect(!refused.output.contains(token))
    }

    @Test(.enabled(if: Tool.git.isInstalled && Tool.python.isInstalled, "needs git and Python"))
    func `git pushes to a server that checks the token, and has a refused one refreshed`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let scratch = scene.scratch
            try scratch.write(try await scene.tokens(1)[0].output.dropLast().description, to: "password")
            let arguments = (scratch.path("repositories"), scratch.path("password"))
            try await FixtureServer.running("git_server.py", arguments.0, arguments.1, in: scratch) { port in
                let git = GitWorkspace(scratch: scratch, place: "127.0.0.1:\(port)")
                try await git.create()
                let pushed = try await git.push()
                #expect(pushed.status == 0, "\(pushed.error)")
                #expect(scene.tokenRequestCount == 0)
                try scratch.write("another", to: "password")
                #expect(try await git.push().status != 0)
                #expect(scene.tokenRequestCount == 1)
                try scratch.write(try await scene.tokens(1)[0].output.dropLast().description, to: "password")
                #expect(try await git.push().status == 0)
                #expect(scene.tokenRequestCount == 1)
            }
        }
    }
}

/// A repository with a commit, and one on a server to push it to.
private struct GitWorkspace {
    let scratch: ScratchDirectory
    let place: String

    private var settings: [String: String] {
        ["GIT_CONFIG_GLOBAL": scratch.path("gitconfig"), "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"]
    }

    func create() async throws {
        let helper = "tokenstore credential git --host \(place) --scope \(IssuerScene.scope.text)"
        try scratch.write(
            "[user]\nname = A\nemail = a@example.net\n[credential \"http://\(place)\"]\nhelper = !\(helper)\n",
            to: "gitconfig"
        )
        let (here, there) = (scratch.path("work"), scratch.path("repositories/tasks.git"))
        for arguments in [
            ["init", "-q", "--bare", there], ["-C", there, "config", "http.receivepack", "true"], ["init", "-q", here],
            ["-C", here, "commit", "-q", "--allow-empty", "-m", "first"],
        ] {
            _ = try await Tool.git.run(arguments, in: scratch, environment: settings)
        }
    }

    func push() async throws -> Command.Outcome {
        let arguments = ["-C", scratch.path("work"), "push", "-q", "http://\(place)/tasks.git", "HEAD:refs/heads/main"]
        return try await Tool.git.run(arguments, in: scratch, environment: settings)
    }
}
