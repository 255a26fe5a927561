import ArgumentParser
import CProcess
import OAuth
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
              TOKENSTORE_PATH          the store, if --store is not given
              TOKENSTORE_DATABASE_URL  the same for a server, with its password
              TOKENSTORE_ACCOUNT       the account, if none is named
              TOKENSTORE_PASSPHRASE    the passphrase, with --key passphrase
              TOKENSTORE_KEY           the key, with --key environment (base64)
              BROWSER                  the browser of 'login', if not the desktop's
              NO_COLOR                 no colour

            EXIT STATUS
              0    success, including nothing to do
              1    any other error
              3    no account fits, or too many do
              4    someone has to sign in
              5    another process holds the store
              6    the store is damaged, or the file is not a token store
              7    the store's key is not available
              8    a temporary failure of the network, the issuer or the server
              9    cancelled
              10   a newer version wrote the store, or it was moved
              64   wrong arguments
              130  interrupted

            COMPLETION
              tokenstore --generate-completion-script bash    (or zsh, or fish)
            """,
        version: "tokenstore \(TokenStore.version)",
        subcommands: [
            LoginCommand.self, SignUpCommand.self, ResetPasswordCommand.self, LogoutCommand.self,
            WhoamiCommand.self, ListCommand.self, ClaimsCommand.self, UseCommand.self, TagCommand.self,
            TokenCommand.self, ExecCommand.self, CredentialCommand.self, ExplainCommand.self,
            PurgeCommand.self, ImportCommand.self, ExportCommand.self, BackupCommand.self, RestoreCommand.self,
            HistoryCommand.self, StatusCommand.self, CheckCommand.self, RekeyCommand.self,
            InitCommand.self, MigrateCommand.self, CopyCommand.self,
        ]
    )

    static func main() {
        let words = StartBytes.words
        // Without them a command would look like a call for help.
        guard !words.isEmpty else {
            let hint = "mount /proc in the container or the chroot"
            ErrorReport(failure: CommandFailure(.failure, "the arguments cannot be read", hint)).write(asJSON: false)
            exit(withError: ExitCode(ExitStatus.failure.code))
        }
        let typed = words.dropFirst().map { String(decoding: $0, as: UTF8.self) }[...]
        let arguments = commandFirst(typed)
        do {
            try StartBytes.requireText(isExec: arguments.first == ExecCommand.configuration.commandName)
            if arguments.sorted() == ["--json", "--version"] { return try writeVersion() }
            var command = try command(arguments)
            try command.run()
        } catch {
            end(with: error, arguments, isJSON(typed))
        }
    }

    /// Puts the options of every command that stand before the command behind it.
    static func commandFirst(_ arguments: ArraySlice<String>) -> ArraySlice<String> {
        let end = endOfCommonOptions(arguments)
        if end < arguments.endIndex, arguments[end] == "help" { return helpWords(arguments[end...]) }
        guard end > arguments.startIndex, end < arguments.endIndex, !arguments[end].hasPrefix("-") else {
            return arguments
        }
        let command = end + max(1, commands(named: arguments[end...]).count)
        return (arguments[end..<command] + arguments[..<end] + arguments[command...])[...]
    }

    /// A call for help without the options of every command, with all of which it is the same.
    private static func helpWords(_ arguments: ArraySlice<String>) -> ArraySlice<String> {
        var (words, rest): ([String], ArraySlice<String>) = ([], arguments)
        while !rest.isEmpty {
            rest = rest[min(endOfCommonOptions(rest), rest.endIndex)...]
            if let word = rest.popFirst() { words.append(word) }
        }
        return words[...]
    }

    /// Where the options of every command end that stand first; behind the end of all if the last has no value.
    private static func endOfCommonOptions(_ arguments: ArraySlice<String>) -> Int {
        let valued = ["--store", "--key", "--timeout", "--log-level", "--color"]
        let flags = ["--json", "--quiet", "--no-input", "--no-color"]
        var end = arguments.startIndex
        while end < arguments.endIndex {
            let word = arguments[end]
            let isFlag = flags.contains(word) || isBundle(word, of: "jq")
            if isFlag || valued.contains(where: { word.hasPrefix($0 + "=") }) {
                end += 1
            } else if valued.contains(word) {
                end += 2
            } else {
                break
            }
        }
        return end
    }

    /// Whether a word is several options of one letter, all of them among `letters`.
    static func isBundle(_ word: String, of letters: String) -> Bool {
        let rest = word.utf8.dropFirst()
        return word.utf8.first == UInt8(ascii: "-") && !rest.isEmpty && rest.allSatisfy { letters.utf8.contains($0) }
    }

    /// Whether an error is to be JSON, also where the arguments as a whole cannot be read.
    static func isJSON(_ arguments: ArraySlice<String>) -> Bool {
        arguments.prefix { $0 != "--" }.contains { word in
            word == "--json" || isBundle(word, of: "jqaos") && word.utf8.contains(UInt8(ascii: "j"))
        }
    }

    /// What `--version` says, as JSON.
    private static func writeVersion() throws {
        let terminal = Terminal(colour: false, environment: [:])
        let console = Console(terminal: terminal, isQuiet: false, logLevel: .warning)
        try console.document { $0.member("version", TokenStore.version) }
    }

    /// Reads the arguments, at first without the root command, which costs a tenth of the whole run of a list; that
    /// each command names the root as its super command keeps it from looking for the root's completion scripts.
    static func command(_ arguments: ArraySlice<String>) throws -> any ParsableCommand {
        if let command = direct(arguments) { return command }
        let command = try parsed(arguments)
        try requireValues(arguments)
        return command
    }

    /// The command, if its arguments can be read without the parser and fit together.
    static func direct(_ arguments: ArraySlice<String>) -> (any ParsableCommand)? {
        do {
            let words = arguments.dropFirst()
            switch arguments.first {
            case ListCommand.configuration.commandName: return try ListCommand.read(words)
            case TokenCommand.configuration.commandName: return try TokenCommand.read(words)
            default: return nil
            }
        } catch {
            return nil
        }
    }

    private static func parsed(_ arguments: ArraySlice<String>) throws -> any ParsableCommand {
        if arguments.first == "---completion" { return try CompletionRoot.parseAsRoot(Array(arguments)) }
        let named = configuration.subcommands.first { $0.configuration.commandName == arguments.first }
        // The whole parser, which knows the root command, prints help and usage errors.
        if let command = try? named?.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == named {
            return command
        }
        try requireCommand(arguments.first == "help" ? arguments.dropFirst() : arguments)
        return try parseAsRoot(Array(withoutCommonOptions(arguments)))
    }

    /// Refuses an option whose value is empty behind the equals sign, as of a variable that is not set: the parser
    /// would take the next word for it.
    ///
    /// Behind a flag there is to be no equals sign at all.
    private static func requireValues(_ arguments: ArraySlice<String>) throws {
        // What a shell asks to complete is not finished.
        guard arguments.first != "---completion" else { return }
        let options = arguments.prefix { $0 != "--" }
        for (index, word) in zip(options.indices, options) where word.hasPrefix("--") && word.utf8.count > 3 {
            guard word.utf8.firstIndex(of: UInt8(ascii: "=")) == word.utf8.indices.last else { continue }
            let option = word.dropLast()
            guard !isFlag(index, of: arguments) else {
                throw ValidationError("\(option) takes no value", hint: "write \(option) alone")
            }
            throw ValidationError("\(option) has no value", hint: "write one behind \(word), or leave it out")
        }
    }

    /// Whether the option at `index`, which ends with an equals sign, takes no value: the parser says so where one is
    /// there.
    private static func isFlag(_ index: Int, of arguments: ArraySlice<String>) -> Bool {
        var arguments = arguments
        arguments[index] += "x"
        do {
            _ = try parsed(arguments)
            return false
        } catch {
            return message(for: error).contains("does not take any value")
        }
    }

    /// What stands behind the options of every command, where no command follows them: those are right, and the parser
    /// would blame the first.
    private static func withoutCommonOptions(_ arguments: ArraySlice<String>) throws -> ArraySlice<String> {
        let end = endOfCommonOptions(arguments)
        guard end > arguments.startIndex else { return arguments }
        let help = "see 'tokenstore --help'"
        if end > arguments.endIndex, let option = arguments.last {
            throw ValidationError("\(option) has no value", hint: help)
        }
        guard end < arguments.endIndex else { throw ValidationError("no command is given", hint: help) }
        return arguments[end...]
    }

    private static func end(with error: any Error, _ arguments: ArraySlice<String>, _ asJSON: Bool) -> Never {
        guard let failure = failure(for: error, arguments) else {
            let isScript = arguments.contains { $0.hasPrefix("--generate-completion-script") }
            let root: any ParsableCommand.Type = isScript ? CompletionRoot.self : self
            let text = root.fullMessage(for: error, columns: HelpText.width)
            let help = HelpText(text)
            let shown = help.isHelp ? help.arranged : isScript ? CompletionRoot.adapted(text) : text
            do { try write(shown) } catch { end(with: error, arguments, asJSON) }
            exit(withError: nil)
        }
        // A person who presses Tab is told nothing.
        if arguments.first == "---completion" { exit(withError: ExitCode(failure.status.code)) }
        let told = failure.tellingOfChange(by: arguments).naming(GivenStore(in: arguments))
        ErrorReport(failure: told).write(asJSON: asJSON)
        exit(withError: ExitCode(failure.status.code))
    }

    /// Writes what was asked for instead of a command, as commands write: a full disk does not pass in silence.
    private static func write(_ text: String) throws {
        guard !text.isEmpty else { return }
        let output = BufferedOutput.standardOutput()
        try output.write(text + "\n")
        try output.flush()
    }

    /// What to say of an error; nil for help, the version and completion scripts, which come as errors too.
    static func failure(for error: any Error, _ arguments: ArraySlice<String>) -> CommandFailure? {
        // Of these ArgumentParser knows nothing, and would make the usage of every option first.
        let isOurs = error is CommandFailure || error is any CodedError
        // For its code the parser makes the text again, as wide as the terminal is, which may be too narrow for it.
        let isHelp = !isOurs && HelpText(fullMessage(for: error, columns: HelpText.width)).isHelp
        let code: ExitCode = isHelp ? .success : isOurs ? .failure : exitCode(for: error)
        guard !code.isSuccess else {
            return wordTakenForHelp(arguments).map { CommandFailure(usage: "unknown option '\($0)'", of: arguments) }
        }
        guard code == .validationFailure else { return PassphraseMemory.shared.failure ?? CommandFailure(error) }
        return CommandFailure(usage: message(for: error), of: arguments)
    }
}

/// The program behind the executable; others run single commands of it in their own process.
package enum TokenStoreProgram {
    /// Runs the command that the process was started with, and ends the process.
    package static func main() {
        // Tokens and passphrases will be in memory.
        CProcessForbidDumps()
        IgnoredSignals.note()
        // A file that may grow no further is an error like a full disk, and no end in the middle of a write.
        signal(SIGXFSZ, SIG_IGN)
        TokenStore.ownSQLite()
        TokenStoreCommand.main()
    }

    /// Runs one command; what it prints goes to standard output.
    package static func run(_ arguments: [String]) throws {
        var command = try TokenStoreCommand.command(TokenStoreCommand.commandFirst(arguments[...]))
        try command.run()
    }

    /// What the program would say of arguments, and end with, instead of running a command or showing help; nil: it
    /// would.
    package static func objection(to arguments: [String]) -> (text: String, status: Int32)? {
        let arguments = TokenStoreCommand.commandFirst(arguments[...])
        do {
            _ = try TokenStoreCommand.command(arguments)
            return nil
        } catch {
            guard let failure = TokenStoreCommand.failure(for: error, arguments) else { return nil }
            return (ErrorReport(failure: failure).text, failure.status.code)
        }
    }
}
