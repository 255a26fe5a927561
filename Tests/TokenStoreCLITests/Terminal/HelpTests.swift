import Foundation
import TestTraits
import Testing

/// What a person reads who asks for help.
@Suite(.onWaitingThreads)
struct HelpTests {
    private static func help(_ command: String...) throws -> Command.Outcome {
        try Command(arguments: command + ["--help"]).run(in: ScratchDirectory())
    }

    /// The names under the heading of the commands.
    static func commands() throws -> [String] {
        let lines = try help().output.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0 != "SUBCOMMANDS:" }.dropFirst().prefix { !$0.isEmpty }
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    @Test func `each command's own options come first, and the common ones last`() throws {
        let commands = try Self.commands()
        #expect(commands.count >= 17)
        for name in commands {
            let lines = try Self.help(name).lines
            // One that is a family of commands has no options of its own.
            if lines.contains("SUBCOMMANDS:") { continue }
            let common = try #require(lines.firstIndex { $0.hasPrefix("OPTIONS OF EVERY COMMAND") } ?? nil, "\(name)")
            if let own = lines.firstIndex(of: "OPTIONS:") { #expect(own < common, "\(name)") }
            #expect(lines[common...].contains { $0.hasPrefix("  -h, --help") }, "\(name)")
            #expect(!lines[(common + 1)...].contains { $0.first?.isUppercase ?? false }, "\(name)")
        }
    }

    @Test func `no usage line makes options look required, and every line fits 80 columns`() throws {
        for name in try Self.commands() {
            let outcome = try Self.help(name)
            #expect(outcome.status == 0)
            #expect(!outcome.output.contains("<options>"), "\(name)")
            #expect(!outcome.output.contains("30.0"), "\(name)")
            let long = outcome.lines.filter { $0.count > 80 }
            #expect(long.isEmpty, "\(name): \(long)")
        }
    }

    @Test(arguments: [["--store", "x.db"], ["--json"], ["-q", "--color=never"]])
    func `help takes the options of every command before it`(options: [String]) throws {
        let scratch = try ScratchDirectory()
        let plain = try Command(arguments: ["help", "list"]).run(in: scratch)
        let outcome = try Command(arguments: options + ["help", "list"]).run(in: scratch)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output == plain.output)
    }

    @Test(arguments: [["--store", "x.db"], ["--json"], ["-q", "--color=never"]])
    func `help takes the options of every command behind it as well`(options: [String]) throws {
        let scratch = try ScratchDirectory()
        let plain = try Command(arguments: ["help", "list"]).run(in: scratch)
        let outcome = try Command(arguments: ["help", "list"] + options).run(in: scratch)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output == plain.output)
    }

    @Test(arguments: [["--json", "help", "nosuch"], ["help", "nosuch", "--json"], ["-qj", "help", "nosuch"]])
    func `help of a command that is not there is an error as JSON where that was asked for`(words: [String]) throws {
        let outcome = try Command(arguments: words).run(in: ScratchDirectory())
        #expect(outcome.status == 64)
        #expect(try outcome.errorJSON["message"] as? String == "there is no command 'nosuch'", "\(outcome.error)")
    }

    @Test(arguments: ["0", "-5", "1", "20"])
    func `help is whole on a terminal of hardly any columns`(columns: String) throws {
        let scratch = try ScratchDirectory()
        let plain = try Command(arguments: ["list", "--help"]).run(in: scratch)
        let narrow = try Command(arguments: ["list", "--help"], environment: ["COLUMNS": columns]).run(in: scratch)
        #expect(narrow.status == 0)
        #expect(narrow.output.split { $0.isWhitespace } == plain.output.split { $0.isWhitespace })
        #expect(narrow.output.hasPrefix("OVERVIEW: List the accounts"))
        let refusals = try [[:], ["COLUMNS": columns]].map { environment in
            try Command(arguments: ["claims", "-dash@example.net"], environment: environment).run(in: scratch)
        }
        #expect(refusals.map(\.status) == [64, 64])
        #expect(refusals[0].error == refusals[1].error)
    }

    @Test func `list names its defaults`() throws {
        let text = try Self.help("list").output.split { $0.isWhitespace }.joined(separator: " ")
        #expect(text.contains("Default: table."))
        #expect(text.contains("default: username"))
    }

    @Test(arguments: [
        (["help", "nosuch"], "there is no command 'nosuch'; see 'tokenstore --help'"),
        (["help", "lsit"], "there is no command 'lsit'; did you mean 'list'?"),
        (["lst"], "there is no command 'lst'; did you mean 'list'?"),
        (["clams", "mara@example.net"], "there is no command 'clams'; did you mean 'claims'?"),
        (["credential", "gti"], "there is no command 'credential gti'; did you mean 'git'?"),
        (["help", "credential", "gti"], "there is no command 'credential gti'; did you mean 'git'?"),
        (
            ["credential", "kubernets", "--scope", "x"],
            "there is no command 'credential kubernets'; did you mean 'kubernetes'?"
        ),
        (["credential", "nosuch"], "there is no command 'credential nosuch'; see 'tokenstore credential --help'"),
        (["purge", "--older", "3d"], "unknown option '--older'; did you mean '--older-than'?"),
        (["list", "--col", "a"], "unknown option '--col'; see 'tokenstore list --help'"),
        (["check", "--fix"], "unknown option '--fix'; see 'tokenstore check --help'"),
        (["status", "--older"], "unknown option '--older'; see 'tokenstore status --help'"),
        (["credential", "aws", "--scop", "x"], "unknown option '--scop'; did you mean '--scope'?"),
        (["--versoin"], "unknown option '--versoin'; did you mean '--version'?"),
        (["--hepl"], "unknown option '--hepl'; did you mean '--help'?"),
        (["--stroe", "x", "list"], "unknown option '--stroe'; did you mean '--store'?"),
        (["list", "--tokens", "-lh"], "unknown option '-lh'; see 'tokenstore list --help'"),
        (
            ["exec", "--scope", "a", "ls", "-la"],
            "unknown option '-la'; write the command behind --, as in 'tokenstore exec -- env'"
        ),
        (["exec", "--scpoe", "a", "--", "ls"], "unknown option '--scpoe'; did you mean '--scope'?"),
    ])
    func `a mistyped command or option gets a suggestion that fits`(arguments: [String], sentence: String) throws {
        let outcome = try Command(arguments: arguments).run(in: ScratchDirectory())
        #expect(outcome.status == 64)
        #expect(outcome.error == "tokenstore: error: \(sentence)\n")
        #expect(outcome.output.isEmpty)
    }

    @Test func `help of a command is the same by both names`() throws {
        let scratch = try ScratchDirectory()
        #expect(try scratch.run("help", "list").output == scratch.run("list", "--help").output)
        #expect(try scratch.run("help").output == scratch.run("--help").output)
    }

    @Test func `options of every command also work before it`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let elsewhere = ["TOKENSTORE_PATH": scratch.path("none")]
        func usernames(_ arguments: String...) throws -> [String] {
            let options = ["list", "-o", "tsv", "--columns", "username"]
            return try Command(arguments: arguments + options, environment: elsewhere).run(in: scratch).lines
        }
        #expect(try usernames("--store", scratch.store) == ["USERNAME", "mara@example.net"])
        #expect(try usernames("--store=\(scratch.store)", "--key", "file") == ["USERNAME", "mara@example.net"])
        #expect(try usernames("--key", "file:/nowhere", "--store", scratch.store).isEmpty)
        #expect(try scratch.run("--json", "list").json["total"] as? Int == 1)
        #expect(try scratch.run("--json", "whoami", "nobody").errorJSON["exitCode"] as? Int == 3)
        #expect(try scratch.run("--store").status == 64)
        #expect(try scratch.run("--store", "x", "--help").output == scratch.run("--help").output)
        #expect(try scratch.run("--policy", "x", "list").status == 64)
    }

    @Test(arguments: [
        (["--store", "s1"], "no command is given; see 'tokenstore --help'"),
        (["--key", "file", "--store"], "--store has no value; see 'tokenstore --help'"),
        (["--store", "s1", "--bogus"], "unknown option '--bogus'"),
        (["--store=s1", "--quiet", "--bogus", "list"], "unknown option '--bogus'"),
    ])
    func `an option that is right is not blamed for what is wrong`(arguments: [String], sentence: String) throws {
        let scratch = try ScratchDirectory()
        let outcome = try scratch.command(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.error.hasPrefix("tokenstore: error: \(sentence)"), "\(outcome.error)")
        #expect(try scratch.names.isEmpty)
    }

    @Test(
        arguments: ["--help", "list --help", "--version", "--version --json"]
            + ["bash", "zsh", "fish"].map {
                "--generate-completion-script \($0)"
            }
    )
    func `help that cannot be written is an error`(arguments: String) throws {
        for target in ["> /dev/full", ">&-"] {
            var command = Command(arguments: ["-c", "\"$0\" \(arguments) \(target)", Command.binary])
            command.program = "/usr/bin/bash"
            let outcome = try command.run(in: ScratchDirectory())
            #expect(outcome.status == 1, "\(target)")
            #expect(outcome.error.contains("standard output cannot be written ("), "\(outcome.error)")
        }
    }

    @Test func `a pipe that is set not to wait for its reader gets the whole text`() throws {
        let scratch = try ScratchDirectory()
        let words = ["--generate-completion-script", "bash"]
        let whole = try scratch.command(words).output
        let pipe = scratch.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        #if os(Linux)
        // F_SETPIPE_SZ, which Swift does not import: one page.
        _ = fcntl(reader, 1031, Int32(4096))
        #endif
        var actions = SpawnActions()
        actions.open("/dev/null", O_RDONLY, as: STDIN_FILENO)
        actions.open(pipe, O_WRONLY | O_NONBLOCK, as: STDOUT_FILENO)
        actions.open("/dev/null", O_WRONLY, as: STDERR_FILENO)
        let process = try actions.spawn(Command.binary, words, environment: [:], home: scratch)
        _ = fcntl(reader, F_SETFL, 0)
        // Byte by byte it is slower than the program, which finds the pipe full.
        var (text, byte): ([UInt8], UInt8) = ([], 0)
        while read(reader, &byte, 1) == 1 { text.append(byte) }
        #expect(SpawnActions.wait(for: process) == 0)
        #expect(String(decoding: text, as: UTF8.self) == whole)
    }

    @Test func `the options used most have short forms`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        #expect(try scratch.run("list", "-j", "-a", "ivo@example.org").json["total"] as? Int == 1)
        #expect(try scratch.run("list", "-q", "--policy", "none").error.isEmpty)
        let token = try scratch.run("token", "-a", "mara@example.net", "-s", "tasks.read")
        #expect(token.output == CachedUser.mara.secret("access") + "\n", "\(token.error)")
    }
}
