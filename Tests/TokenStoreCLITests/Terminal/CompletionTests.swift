import Foundation
import Testing

/// The completion scripts, in the shells that they are for: a person types half of each word and Tab.
struct CompletionTests {
    /// A shell, and how it loads a completion script and a `tokenstore` that prints its arguments.
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
            setUp: ("rc", "source tokenstore.bash; tokenstore() { echo \"[$*]\"; }; PS1='ready> '\n"),
            arguments: ["--noprofile", "--rcfile", "rc", "-i"]
        )
        static let zsh = Shell(
            name: "zsh",
            script: "_tokenstore",
            setUp: (
                ".zshrc",
                "fpath=($HOME $fpath); autoload -Uz compinit; compinit -u -D; tokenstore() { echo \"[$*]\" }; "
                    + "PS1='ready> '\n"
            ),
            arguments: ["-i"]
        )
        static let fish = Shell(
            name: "fish",
            script: "tokenstore.fish",
            setUp: (
                "rc",
                "source tokenstore.fish; function tokenstore; echo \"[$argv]\"; end; "
                    + "function fish_prompt; echo 'ready> '; end\n"
            ),
            arguments: ["--no-config", "-i", "-C", "source rc"]
        )
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
        let scratch = try ScratchDirectory()
        let script = try scratch.run("--generate-completion-script", shell.name)
        #expect(script.status == 0)
        #expect(script.error.isEmpty)
        try scratch.write(script.output, to: shell.script)
        try scratch.write(shell.setUp.text, to: shell.setUp.file)
        let shown = try Command(arguments: ["-c", "cd \"$HOME\" && exec \"$0\" \"$@\"", shell.path] + shell.arguments)
            .runOnTerminal(
                in: scratch,
                program: "/bin/sh",
                typing: [
                    TypedAnswer("ready> ", "tokenstore to\t--form\thea\t\n"),
                    TypedAnswer("ready> ", "exit\n"),
                ]
            )
        #expect(shown.output.contains("[token --format header]"))
    }
}
