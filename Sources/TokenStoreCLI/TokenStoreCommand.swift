import ArgumentParser
import CProcess
import TokenStorage

/// The root of the command line.
struct TokenStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokenstore",
        abstract: "Keep sign-ins: accounts, claims and tokens in one sealed file.",
        discussion: """
            Sign in, or import the cache of a program that uses MSAL, Microsoft's library; then look at it:
              tokenstore login --issuer https://login.example.com --client-id my-app
              tokenstore import ~/cache.json
              tokenstore list
              tokenstore claims mara@example.net

            ENVIRONMENT
              TOKENSTORE_PATH        the store, if --store is not given
              TOKENSTORE_PASSPHRASE  the passphrase, with --key passphrase
              TOKENSTORE_KEY         the key, with --key environment (base64)
              BROWSER                the browser of 'login', if not the desktop's
              NO_COLOR               no colour

            EXIT STATUS
              0    success, including nothing to do
              1    any other error
              3    no account fits, or too many do
              4    someone has to sign in
              5    another process holds the store
              6    the store is damaged, or the file is not a token store
              7    the store's key is not available
              8    a temporary failure of the network or the issuer
              9    cancelled
              10   a newer version wrote the store
              64   wrong arguments
              130  interrupted

            COMPLETION
              tokenstore --generate-completion-script bash    (or zsh, or fish)
            """,
        version: "tokenstore \(TokenStore.version)",
        subcommands: [
            LoginCommand.self, SignUpCommand.self, ResetPasswordCommand.self, LogoutCommand.self,
            WhoamiCommand.self, ListCommand.self, ClaimsCommand.self, TagCommand.self, TokenCommand.self,
            ExplainCommand.self,
            PurgeCommand.self, ImportCommand.self, ExportCommand.self,
            StatusCommand.self, CheckCommand.self, RekeyCommand.self,
        ]
    )

    static func main() {
        do {
            var command = try command(CommandLine.arguments.dropFirst())
            try command.run()
        } catch {
            end(with: error, CommandLine.arguments.dropFirst())
        }
    }

    /// Reads the arguments, at first without the root command, which costs a tenth of the whole run of a list; that
    /// each command names the root as its super command keeps it from looking for the root's completion scripts.
    static func command(_ arguments: ArraySlice<String>) throws -> any ParsableCommand {
        let named = configuration.subcommands.first { $0.configuration.commandName == arguments.first }
        // The whole parser, which knows the root command, prints help and usage errors.
        if let command = try? named?.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == named {
            return command
        }
        return try parseAsRoot(Array(arguments))
    }

    private static func end(with error: any Error, _ arguments: ArraySlice<String>) -> Never {
        guard let failure = failure(for: error, arguments) else { exit(withError: error) }
        ErrorReport(failure: failure).write(asJSON: arguments.prefix { $0 != "--" }.contains("--json"))
        exit(withError: ExitCode(failure.status.code))
    }

    /// What to say of an error; nil for help, the version and completion scripts, which come as errors too.
    static func failure(for error: any Error, _ arguments: ArraySlice<String>) -> CommandFailure? {
        let code = exitCode(for: error)
        guard !code.isSuccess else { return nil }
        guard code == .validationFailure else { return PassphraseMemory.shared.failure ?? CommandFailure(error) }
        let command = configuration.subcommands.map { $0.configuration.commandName }.first { $0 == arguments.first }
        return CommandFailure(usage: message(for: error), of: command ?? nil)
    }
}

/// The program behind the executable; others run single commands of it in their own process.
package enum TokenStoreProgram {
    /// Runs the command that the process was started with, and ends the process.
    package static func main() {
        // Tokens and passphrases will be in memory.
        CProcessForbidDumps()
        TokenStoreCommand.main()
    }

    /// Runs one command; what it prints goes to standard output.
    package static func run(_ arguments: [String]) throws {
        var command = try TokenStoreCommand.parseAsRoot(arguments)
        try command.run()
    }

    /// What the program would say of arguments, and end with, instead of running a command or showing help; nil: it
    /// would.
    package static func objection(to arguments: [String]) -> (text: String, status: Int32)? {
        do {
            _ = try TokenStoreCommand.command(arguments[...])
            return nil
        } catch {
            guard let failure = TokenStoreCommand.failure(for: error, arguments[...]) else { return nil }
            return (ErrorReport(failure: failure).text, failure.status.code)
        }
    }
}
