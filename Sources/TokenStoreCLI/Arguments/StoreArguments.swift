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
            "The database file, the directory that holds tokenstore.db, or the address of a server, "
                + "postgresql://HOST/DATABASE. Default: $TOKENSTORE_PATH, else the server of $TOKENSTORE_DATABASE_URL, "
                + "else $XDG_STATE_HOME/tokenstore/tokenstore.db, else ~/.local/state/tokenstore/tokenstore.db; on macOS "
                + "~/Library/Application Support/tokenstore/tokenstore.db.",
            valueName: "path"
        ),
        completion: .file()
    )
    var store: String?

    @Option(
        help: ArgumentHelp(
            "Where the store's key comes from: file, file:PATH, passphrase, passphrase:fd=N, secret-service, "
                + "keychain, keychain:GROUP, credential:NAME, credential:/PATH, environment or command:/PATH. The store "
                + "records it; later calls need it only for command:/PATH, unless TOKENSTORE_KEY_COMMAND names that path. "
                + "Default for a new store: file.",
            valueName: "source"
        ),
        completion: StoreCompletion.keySources,
        transform: { try KeySource(argument: $0) }
    )
    var key: KeySource?

    @Flag(
        name: [.customShort("j"), .long],
        help: "Print one JSON document on standard output, and errors as JSON on standard error."
    )
    var json = false

    @Flag(name: [.customShort("q"), .long], help: "Print nothing but warnings, errors and what was asked for.")
    var quiet = false

    @Flag(help: "Never prompt (implied if standard input is not a terminal).")
    var noInput = false

    @Option(
        help: ArgumentHelp(
            "When to use colour: always, never or auto. Default: auto, which is on a terminal without NO_COLOR.",
            valueName: "when"
        ),
        completion: .list(["always", "never", "auto"])
    )
    var color: String?

    @Flag(help: "Disable colour, as --color=never.")
    var noColor = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long to wait for the network (a refresh: 20 at most), or for a store that is in use.",
            valueName: "seconds"
        )
    )
    var timeout = Self.usualTimeout

    @Option(help: ArgumentHelp("How much to say on standard error.", valueName: "level"))
    var logLevel = LogLevel.warning

    static let usualTimeout = 30.0

    func validate() throws {
        guard timeout.isFinite, timeout >= 0, timeout <= 1e9 else {
            throw ValidationError("--timeout is not a number from 0 to a billion", hint: "give a number of seconds")
        }
        guard ["always", "never", "auto", nil].contains(color), !noColor || color != "always" else {
            throw ValidationError("--color is not always, never or auto", hint: "give one of them, without --no-color")
        }
        guard store != "" else { throw ValidationError("--store is empty", hint: "give a path, or leave it out") }
        do { _ = try location } catch { throw ValidationError(error) }
    }

    /// Read once, and not by `ProcessInfo`: that takes a tenth of a short command's work.
    static let environment = StartBytes.variables

    /// Where the store is.
    var location: StoreLocation {
        get throws(TokenStoreError) {
            if let store { return try StoreLocation(store, isArgument: true) }
            return try .standard(environment: Self.environment)
        }
    }

    /// Whether there is no store at a path, so that opening it would create it; a server is not asked.
    var isVacant: Bool {
        get throws {
            guard let path = try location.path else { return false }
            try path.requireFile()
            return path.isVacant
        }
    }

    /// The file of the store, for a command that is about files.
    func requirePath(_ problem: String, _ hint: String) throws -> StorePath {
        guard let path = try location.path else { throw CommandFailure(.failure, problem, hint) }
        return path
    }

    var console: Console {
        let colour: Bool? = noColor || color == "never" ? false : color == "always" ? true : nil
        let terminal = Terminal(colour: colour, environment: Self.environment)
        let given = GivenStore(store: store, key: key?.description)
        return Console(terminal: terminal, isQuiet: quiet, logLevel: logLevel, given: given)
    }

    var mayAsk: Bool { !noInput && StandardInput.isTerminal }
}

extension StoreArguments {
    /// How the store is opened; without unlocking, rows can be counted and deleted, not read.
    ///
    /// It waits for other processes no longer than `limit`.
    func options(unlocks: Bool = true, within limit: Duration? = nil) -> StoreOptions {
        var options = StoreOptions(keySource: key, environment: Self.environment)
        options.busyTimeout = .seconds(timeout)
        if let limit { options.busyTimeout = min(options.busyTimeout, limit) }
        options.program = "tokenstore"
        options.unlocks = unlocks
        options.keepsTokensInMemory = false
        if mayAsk { options.askPassphrase = { try PassphraseMemory.shared.passphrase(isNew: $0) } }
        return options
    }

    /// What `body` returns, which opens the store; a passphrase that was typed wrong may be typed three times.
    func unlocking<Result>(
        unlocks: Bool = true,
        within limit: Duration? = nil,
        _ body: (StoreOptions) throws -> Result
    ) throws -> Result {
        var attempts = 1
        while true {
            do {
                return try body(options(unlocks: unlocks, within: limit))
            } catch let error as TokenStoreError
                where error.keyError?.code == .otherKey && attempts < 3 && PassphraseMemory.shared.forget()
            {
                StandardError.write("tokenstore: \(error.problem.printable), try again\n")
                attempts += 1
            }
        }
    }

    /// Opens the store for reading only, and once; nil, after a line that says how to fill it, if there is none.
    ///
    /// A line says how far a standby may be behind that is read instead of its primary.
    func inspect(_ console: Console, unlocks: Bool = true, decides: Bool = false) throws -> StoreInspection? {
        let location = try location
        console.log(.debug, "inspecting \(location)")
        guard let store = try inspected(unlocks: unlocks, decides: decides) else {
            console.note("\(try CommandFailure.absence(of: location, " yet")); \(CommandFailure.filling(location))")
            return nil
        }
        try tellDelay(of: store, console)
        return store
    }

    /// Says how far a standby may be behind that is read instead of its primary.
    func tellDelay(of store: StoreInspection, _ console: Console) throws {
        guard let delay = try store.standbyDelay(), delay >= .seconds(1) else { return }
        console.note("read from a standby whose last commit is \(delay.components.seconds) s old")
    }

    /// The store for reading only, nil if it does not exist; release it before the store is opened for writing.
    ///
    /// It waits for other processes no longer than `limit`. What `decides` what is written or handed out is read where
    /// that is written.
    func inspected(
        unlocks: Bool = true,
        within limit: Duration? = nil,
        decides: Bool = false
    ) throws -> StoreInspection? {
        try unlocking(unlocks: unlocks, within: limit) {
            var options = $0
            options.keepsInspectionOpen = true
            options.mayReadStandby = !decides
            return try TokenStore.inspect(at: location, options: options)
        }
    }

    /// What `read` finds where tokens are written or, while that is away, on a standby that the address allows.
    ///
    /// A standby may be behind: what it lacks is not said to be missing.
    func fromStandbyIfNeeded<Found>(
        _ console: Console,
        _ read: (_ decides: Bool) throws -> Found?
    ) throws -> Found? {
        do {
            return try read(true)
        } catch let error as TokenStoreError where error.code == .unreachable {
            guard try location.mayBeStandby, let found = try? read(false) else { throw error }
            console.note("the server that can be written to is away, and the token is from a standby")
            return found
        }
    }

    /// Opens the store for reading its accounts, after the answers that wait in files were stored.
    func inspectAccounts(_ console: Console) throws -> StoreInspection? {
        // A command that only reads does not wait long for another process that writes.
        try takeInAnswers(console, within: .seconds(1))
        return try inspect(console)
    }

    /// Has the answers stored that wait in files, which hold newer refresh tokens than the store.
    ///
    /// Where that is not possible, as in a copy that cannot be written, a line says so.
    func takeInAnswers(_ console: Console, within limit: Duration? = nil) throws {
        guard let path = try location.path, !path.isVacant else { return }
        let waiting = try path.pendingAnswers()
        guard !waiting.isEmpty else { return }
        do {
            let store = try TokenStore.open(at: path, options: options(within: limit))
            defer { store.close() }
            try store.takeInAnswers()
        } catch let error as TokenStoreError {
            console.warn(
                "\(waiting.joined(separator: ", ")) could not be stored, and a refresh token may be spent: "
                    + CommandFailure(error).sentence
            )
        }
    }

    /// Opens the store for writing, creating it if there is none; it waits for others no longer than `limit`.
    func open(_ console: Console, unlocks: Bool = true, within limit: Duration? = nil) throws -> TokenStore {
        let location = try location
        console.log(.debug, "opening \(location)")
        return try unlocking(unlocks: unlocks, within: limit) { try TokenStore.open(at: location, options: $0) }
    }

    /// Opens the store for a sign-in; if there is none, it is created when there is something in it.
    ///
    /// A server that could not store the sign-in says so before anybody signs in.
    func openOrDefer(_ console: Console) throws -> TokenStore {
        let location = try location
        guard let path = location.path, path.isVacant else {
            let store = try open(console)
            try store.requireSavable()
            return store
        }
        var options = options()
        try TokenStore.requireCreatable(at: path, options: options)
        // Asked for now, while nothing else reads from the terminal.
        if key == .passphrase, options.environment["TOKENSTORE_PASSPHRASE"] == nil, let ask = options.askPassphrase {
            let passphrase = try ask(true)
            options.askPassphrase = { _ in passphrase }
        }
        return .deferred(at: location, options: options)
    }
}

extension KeySource {
    /// Reads an argument, before any file is opened; an error keeps its hint.
    init(argument text: String) throws {
        do { self = try KeySource(parsing: text) } catch { throw ValidationError(error) }
        if let passphraseDescriptor { NamedDescriptor(number: passphraseDescriptor).reserve() }
    }
}

extension StorePath {
    /// Whether the store is missing, so that opening it would create it.
    ///
    /// A log without its database is the rest of a store: opening it throws that error.
    var isVacant: Bool { FileStatus.isAbsent(database) && FileStatus.isAbsent(log) }
}

/// How much is said on standard error beside errors.
enum LogLevel: String, CaseIterable, Comparable, ExpressibleByArgument {
    case trace
    case debug
    case info
    case notice
    case warning
    case error
    case critical

    static func < (lhs: LogLevel, rhs: LogLevel) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
