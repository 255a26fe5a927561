import Sealing
import TokenStorage

extension StoreArguments {
    /// How the store is opened; without unlocking, rows can be counted and deleted, not read.
    func options(unlocks: Bool = true) -> StoreOptions {
        var options = StoreOptions(keySource: key)
        options.busyTimeout = .seconds(timeout)
        options.program = "tokenstore"
        options.unlocks = unlocks
        if mayAsk { options.askPassphrase = { try PassphraseMemory.shared.passphrase(isNew: $0) } }
        return options
    }

    /// Opens the store for reading only, and once; nil, after a line that says how to fill it, where there is none.
    func inspect(_ console: Console, unlocks: Bool = true) throws -> TokenStore? {
        console.log(.debug, "inspecting \(path.database)")
        guard let store = try inspected(unlocks: unlocks) else {
            console.note("no store at \(path.database) yet; \(CommandFailure.filling)")
            return nil
        }
        return store
    }

    /// The store for reading only, nil where there is none; it has to be gone before the store is opened for writing.
    func inspected(unlocks: Bool = true) throws -> TokenStore? {
        var options = options(unlocks: unlocks)
        options.keepsInspectionOpen = true
        return try TokenStore.inspect(at: path, options: options)
    }

    /// Opens the store for reading its accounts, after the answers that wait in files were stored.
    func inspectAccounts(_ console: Console) throws -> TokenStore? {
        try takeInAnswers(console)
        return try inspect(console)
    }

    /// Has the answers stored that wait in files, which hold newer refresh tokens than the store.
    ///
    /// Where that is not possible, as in a copy that cannot be written, a line says so.
    func takeInAnswers(_ console: Console) throws {
        let waiting = try path.pendingAnswers()
        guard !waiting.isEmpty, !path.isVacant else { return }
        var options = options()
        // A command that only reads does not wait long for another process that writes.
        options.busyTimeout = min(options.busyTimeout, .seconds(1))
        do {
            let store = try TokenStore.open(at: path, options: options)
            defer { store.close() }
            try store.takeInAnswers()
        } catch let error as TokenStoreError {
            console.note(
                "\(waiting.joined(separator: ", ")) could not be stored, and a refresh token may be spent: \(error)"
            )
        }
    }

    /// Opens the store for writing, creating it where there is none.
    func open(_ console: Console, unlocks: Bool = true) throws -> TokenStore {
        console.log(.debug, "opening \(path.database)")
        return try TokenStore.open(at: path, options: options(unlocks: unlocks))
    }

    /// Opens the store for writing; where there is none, it is created when there is something in it.
    func openOrDefer(_ console: Console) throws -> TokenStore {
        guard path.isVacant else { return try open(console) }
        var options = options()
        // Asked for now, as nobody else may be reading from the terminal then.
        if key == .passphrase, options.environment["TOKENSTORE_PASSPHRASE"] == nil, let ask = options.askPassphrase {
            let passphrase = try ask(true)
            options.askPassphrase = { _ in passphrase }
        }
        return .deferred(at: path, options: options)
    }
}
