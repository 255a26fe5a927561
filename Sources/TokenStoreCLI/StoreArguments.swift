import ArgumentParser
import OAuth
import Sealing
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The options of every command.
struct StoreArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The database file, or the directory that holds tokenstore.db. Default: $TOKENSTORE_PATH, else "
                + "$XDG_STATE_HOME/tokenstore/tokenstore.db, else ~/.local/state/tokenstore/tokenstore.db; on macOS "
                + "~/Library/Application Support/tokenstore/tokenstore.db.",
            valueName: "path"
        ),
        completion: .file()
    )
    var store: String?

    @Option(
        help: ArgumentHelp(
            "Where the store's key comes from: file, file:PATH, passphrase, passphrase:fd=N, secret-service, "
                + "credential:NAME, credential:/PATH or environment. Fixed when the store is created; then it may be "
                + "left out. Default for a new store: file.",
            valueName: "source"
        ),
        completion: .list(["file", "passphrase", "secret-service", "credential:", "environment"]),
        transform: { try KeySource(parsing: $0) }
    )
    var key: KeySource?

    @Flag(help: "Print one JSON document on standard output, and errors as JSON on standard error.")
    var json = false

    @Flag(help: "Print nothing but errors and what was asked for.")
    var quiet = false

    @Flag(help: "Never ask a question; so also wherever standard input is no terminal.")
    var noInput = false

    @Flag(help: "No colour; so also with NO_COLOR set, with TERM=dumb and in a pipe.")
    var noColor = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long to wait for the network, or for a store that is in use.", valueName: "seconds")
    )
    var timeout = 30.0

    @Option(help: ArgumentHelp("How much to say on standard error.", valueName: "level"))
    var logLevel = LogLevel.warning

    func validate() throws {
        guard timeout.isFinite, timeout >= 0, timeout <= 1e9 else {
            throw ValidationError("--timeout is less than 0 or no number; give a number of seconds")
        }
        guard store != "" else { throw ValidationError("--store is empty; give a path, or leave it out") }
    }

    var path: StorePath {
        store.map { StorePath($0) } ?? .standard(environment: ProcessInfo.processInfo.environment)
    }

    var console: Console {
        let terminal = Terminal(isPlain: noColor, environment: ProcessInfo.processInfo.environment)
        return Console(terminal: terminal, isQuiet: quiet, logLevel: logLevel)
    }

    var mayAsk: Bool { !noInput && StandardInput.isTerminal }
}
