import ArgumentParser
import TokenStorage

/// The root of the command line.
@main
struct TokenStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokenstore",
        abstract: "Keep sign-ins: accounts, claims and tokens in one sealed file.",
        discussion: """
            Import the cache of a program that signs in with MSAL, then look at it:
              tokenstore import ~/cache.json
              tokenstore list
              tokenstore claims mara@example.net

            ENVIRONMENT
              TOKENSTORE_PATH        the store, where --store is not given
              TOKENSTORE_PASSPHRASE  the passphrase, with --key passphrase
              TOKENSTORE_KEY         the key, with --key environment (base64)
              NO_COLOR               no colour

            EXIT STATUS
              0    done, also when there was nothing to do
              1    a failure without a number of its own
              3    no account fits, or too many do
              5    another process holds the store
              6    the store is damaged, or the file is no store
              7    the store's key is not available
              9    cancelled
              10   a newer version wrote the store
              64   wrong arguments
              130  interrupted

            COMPLETION
              tokenstore --generate-completion-script bash    (or zsh, or fish)
            """,
        version: "tokenstore \(TokenStore.version)",
        subcommands: [
            ListCommand.self, ClaimsCommand.self, PurgeCommand.self, ImportCommand.self, ExportCommand.self,
            StatusCommand.self, CheckCommand.self, RekeyCommand.self,
        ]
    )

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            end(with: error)
        }
    }

    private static func end(with error: any Error) -> Never {
        let code = exitCode(for: error)
        // Help, the version and completion scripts come as errors too.
        if code.isSuccess { exit(withError: error) }
        let isUsage = code == .validationFailure
        let arguments = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
        let command = configuration.subcommands.map { $0.configuration.commandName }.first { $0 == arguments.first }
        let failure =
            isUsage
            ? CommandFailure(usage: message(for: error), of: command ?? nil)
            : PassphraseMemory.shared.failure ?? CommandFailure(error)
        ErrorReport(failure: failure).write(asJSON: arguments.contains("--json"))
        exit(withError: ExitCode(failure.status.code))
    }
}

extension CommandFailure {
    /// What the argument parser says, as one line without a capital or a full stop.
    fileprivate init(usage message: String, of command: String?) {
        var sentence = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        while sentence.hasSuffix(".") { sentence.removeLast() }
        sentence = sentence.prefix(1).lowercased() + sentence.dropFirst()
        if sentence.contains("; ") {
            self.init(.usage, sentence: sentence)
        } else {
            self.init(.usage, sentence, "see 'tokenstore \(command.map { "\($0) " } ?? "")--help'")
        }
    }
}
