import Foundation
import TestTraits
import Testing

/// The completion scripts, in the shells that they are for: a person types half of each word and Tab.
@Suite(.onWaitingThreads)
struct CompletionTests {
    /// A shell, and how it loads a completion script.
    struct Shell: Sendable, CustomTestStringConvertible {
        let name: String
        let script: String
        let setUp: (file: String, text: String)
        let arguments: [String]

        var path: String { "/usr/bin/" + name }
        var testDescription: String { name }

        static let bash = Shell(
            name: "bash",
            script: "tokenstore.bash",
            setUp: ("rc", "PATH=$HOME:$PATH; source tokenstore.bash; PS1='ready> '\n"),
            arguments: ["--noprofile", "--rcfile", "rc", "-i"]
        )
        static let zsh = Shell(
            name: "zsh",
            script: "_tokenstore",
            setUp: (
                ".zshrc",
                "PATH=$HOME:$PATH; fpath=($HOME $fpath); autoload -Uz compinit; compinit -u -D; PS1='ready> '\n"
            ),
            arguments: ["-i"]
        )
        static let fish = Shell(
            name: "fish",
            script: "tokenstore.fish",
            setUp: (
                "rc",
                "set -x PATH $HOME $PATH; source tokenstore.fish; function fish_prompt; echo 'ready> '; end\n"
            ),
            arguments: ["--no-config", "-i", "-C", "source rc"]
        )

        /// A program of the name that completes words as ours does, and prints its arguments.
        static let program = """
            #!/bin/sh
            if [ "$1" = ---completion ]; then exec "$BINARY" "$@"; fi
            echo "[$*]"

            """
    }

    @Test(.enabled(if: isInstalled(.bash), "needs bash"))
    func `bash completes commands, options and their values`() throws { try expectCompletion(in: .bash) }

    @Test(.enabled(if: isInstalled(.zsh), "needs zsh"))
    func `zsh completes commands, options and their values`() throws { try expectCompletion(in: .zsh) }

    @Test(.enabled(if: isInstalled(.fish), "needs fish"))
    func `fish completes commands, options and their values`() throws { try expectCompletion(in: .fish) }

    @Test func `a shell that has no script is refused`() throws {
        let outcome = try ScratchDirectory().run("--generate-completion-script", "cmd")
        #expect(outcome.status == 64)
        #expect(outcome.error.hasPrefix("tokenstore: error: "))
    }

    private static func isInstalled(_ shell: Shell) -> Bool {
        FileManager.default.isExecutableFile(atPath: shell.path)
    }

    private func expectCompletion(in shell: Shell) throws {
        let shown = try complete("tokenstore to\t--form\thea\t", in: shell, ScratchDirectory())
        #expect(shown.contains("[token --format header]"))
    }

    /// Types a line in a shell, and returns what is shown until its end.
    private func complete(_ line: String, in shell: Shell, _ scratch: ScratchDirectory) throws -> String {
        let script = try #require(Self.scripts[shell.name]).get()
        #expect(script.status == 0)
        #expect(script.error.isEmpty)
        try scratch.write(script.output, to: shell.script)
        try scratch.write(shell.setUp.text, to: shell.setUp.file)
        try scratch.write(Shell.program, to: "tokenstore")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: scratch.path("tokenstore")
        )
        return try Command(
            arguments: ["-c", "cd \"$HOME\" && exec \"$0\" \"$@\"", shell.path] + shell.arguments,
            environment: ["TOKENSTORE_PATH": scratch.store, "BINARY": Command.binary]
        ).runOnTerminal(
            in: scratch,
            program: "/bin/sh",
            typing: [TypedAnswer("ready> ", line + "\n"), TypedAnswer("ready> ", "exit\n")]
        ).output
    }

    private static let shells = [Shell.bash, .zsh, .fish].filter(isInstalled)

    /// The program's script for each shell, which it takes a while to make.
    private static let scripts = Dictionary(
        uniqueKeysWithValues: shells.map { shell in
            (shell.name, Result { try ScratchDirectory().run("--generate-completion-script", shell.name) })
        }
    )

    /// What is typed, and the word that it becomes.
    private static let words: [(typed: String, completed: String)] = [
        ("claims iv\t", "[claims ivo@example.org]"),
        ("list --account ma\t", "[list --account mara@example.net]"),
        ("list --policy b2c_1_su\t", "[list --policy b2c_1_susi]"),
        ("list --client-id a0\t", "[list --client-id \(CachedUser.mara.client)]"),
        ("list --issuer https://h\t", "[list --issuer \(CachedUser.mara.issuer)]"),
        ("list --where depa\t", "[list --where department]"),
        ("token --scope tasks.r\t", "[token --scope tasks.read]"),
        ("status --key cred\t", "[status --key credential:"),
        ("rekey --current-key cred\t", "[rekey --current-key credential:"),
        ("--json cla\t", "[--json claims]"),
        ("--key cred\t", "[--key credential:"),
    ]

    /// The same in bash, which makes words of an equals sign and what stands before and behind it.
    private static let bashWords: [(typed: String, completed: String)] = [
        ("--key=cred\t", "[--key=credential:"),
        ("list --account=ma\t", "[list --account=mara@example.net]"),
        ("list --where a=b --js\t", "[list --where a=b --json]"),
    ]

    @Test(arguments: shells)
    func `a shell completes what the store at hand knows`(shell: Shell) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        for (typed, completed) in Self.words + (shell.name == "bash" ? Self.bashWords : []) {
            let shown = try complete("tokenstore " + typed, in: shell, scratch)
            #expect(shown.contains(completed), "\(shell.name): \(typed) became \(shown)")
        }
        let other = try ScratchDirectory()
        for words in [
            "list --store \(scratch.store) --account", "--store \(scratch.store) claims",
            "--store=\(scratch.store) claims", "--color=never --timeout 5 --store=\(scratch.store) list --account",
        ] {
            let shown = try complete("tokenstore \(words) iv\t", in: shell, other)
            #expect(shown.contains(" ivo@example.org]"), "\(shell.name): \(words) became \(shown)")
        }
        let command = try complete("tokenstore --store=\(scratch.store) whoa\t", in: shell, other)
        #expect(command.contains("=\(scratch.store) whoami]"), "\(shell.name): \(command)")
        guard shell.name == "bash" else { return }
        let file = try complete("tokenstore --store=log\t", in: shell, other)
        #expect(file.contains("[--store=log]"), "\(file)")
    }

    @Test(arguments: shells)
    func `a shell completes from a store whose path has an equals sign`(shell: Shell) throws {
        let (scratch, other) = (try ScratchDirectory(), try ScratchDirectory())
        try scratch.fill(.mara, .ivo)
        let path = try scratch.copyOfStore(in: "a=b")
        for option in ["--store=", "--store "] {
            let shown = try complete("tokenstore \(option)\(path) claims iv\t", in: shell, other)
            #expect(shown.contains(" ivo@example.org]"), "\(shell.name): \(option) became \(shown)")
        }
    }

    @Test(arguments: shells)
    func `a shell completes from a store whose path it unquotes or expands`(shell: Shell) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let path = try scratch.copyOfStore(in: "a b")
        let escaped = path.replacing(" ", with: "\\ ")
        let words = ["--store='\(path)'", "--store=\(escaped)", "--store '\(path)'", "--store \"\(path)\""]
        try FileManager.default.removeItem(atPath: scratch.store)
        for words in words + ["--store \(escaped)", "--store ~/a\\ b/tokenstore.db"] {
            let shown = try complete("tokenstore \(words) claims iv\t", in: shell, scratch)
            #expect(shown.contains(" ivo@example.org]"), "\(shell.name): \(words) became \(shown)")
        }
    }

    @Test(arguments: shells)
    func `a name that a shell would run is not offered`(shell: Shell) throws {
        let scratch = try ScratchDirectory()
        var mallory = CachedUser.mara
        mallory.username = "x$(touch$IFS$HOME/taken)`touch taken`;touch taken"
        try scratch.fill(mallory)
        _ = try complete("tokenstore claims x\t\t", in: shell, scratch)
        #expect(try !scratch.names.contains("taken"))
    }

    @Test func `completion is silent and writes nothing where there is no store, or no key`() throws {
        let scratch = try ScratchDirectory()
        func completed(_ option: String) throws -> Command.Outcome {
            try scratch.run("---completion", "list", "--", option, "3", "0", "tokenstore", "list", option, "")
        }
        let before = try scratch.names
        for option in ["--account", "--where", "--policy", "--issuer"] {
            let outcome = try completed(option)
            #expect(outcome.error.isEmpty)
            #expect(outcome.output.split(separator: "\n").isEmpty, "\(outcome.output)")
        }
        #expect(try scratch.names == before)
        try scratch.fill(.mara)
        unlink(scratch.path("key"))
        #expect(try completed("--account").output.contains("mara@example.net"))
        #expect(try completed("--where").error.isEmpty)
        try scratch.overwrite("tokenstore.db", with: Data("no store".utf8))
        #expect(try completed("--account").error.isEmpty)
    }
}

extension ScratchDirectory {
    /// Copies the store and its key into a new directory, and returns the path of the copy.
    fileprivate func copyOfStore(in directory: String) throws -> String {
        let copy = path(directory)
        try FileManager.default.createDirectory(
            atPath: copy,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        for name in try names where ["tokenstore.db", "key"].contains(name) {
            try FileManager.default.copyItem(atPath: path(name), toPath: "\(copy)/\(name)")
        }
        return copy + "/tokenstore.db"
    }
}
