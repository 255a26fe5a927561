import ArgumentParser
import Sealing
import TokenStorage

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        _superCommandName: "tokenstore",
        abstract: "Copy the store into one file, sealed as it is.",
        discussion: """
            FILE is a consistent copy, whatever other programs do with the store meanwhile, and takes its name when it \
            is whole. An older backup of the same store is replaced after a question, or with --yes; no other file ever \
            is. The key is not in it: the command says which one opens it. Keep a copy of that too, in another place.

            EXAMPLES
              tokenstore backup ~/backups/tokenstore.db
              tokenstore backup --yes /mnt/usb/tokenstore.db
            """
    )

    @Argument(help: "The file to write.", completion: .file())
    var file: String

    @Flag(help: "Write nothing; print what would be written.")
    var dryRun = false

    @Flag(help: "Replace an older backup without asking.")
    var yes = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws { try FileName.check(file, hint: "name a file") }

    func run() throws {
        let console = arguments.console
        let path = try arguments.requirePath(
            "a store on a server is backed up with its database",
            "use pg_dump or the server's own backups, or 'tokenstore copy --keep-source ADDRESS FILE'"
        )
        if !dryRun { try arguments.takeInAnswers(console) }
        guard let store = try arguments.inspected(unlocks: false) else {
            throw CommandFailure(
                .noMatch,
                "\(try CommandFailure.absence(of: arguments.location)), and nothing was written",
                "name the store with --store"
            )
        }
        try store.tellUnfinishedCopy(console)
        let (plan, isReplacing) = try store.planBackup(to: file)
        if dryRun { return try write(plan, of: path, isReplacing: isReplacing, on: console) }
        if isReplacing { try Confirmation(question: "Replace the backup \(file)").ask(arguments, isGiven: yes) }
        let progress = ProgressLine("backing up", console) { [file] _ in ("\(file) is as it was", advice: "try again") }
        let backup = try progress.showing { try store.backUp(to: file, progress: $0) }
        try write(backup, of: path, isReplacing: isReplacing, on: console)
    }

    /// Writes what was backed up, or would be.
    private func write(
        _ backup: StoreBackup,
        of path: StorePath,
        isReplacing: Bool,
        on console: Console
    ) throws {
        defer { if let advice = adviceOnLostKey(backup, path) { console.warn(advice) } }
        if arguments.json {
            return try console.document {
                $0.member("dryRun", dryRun)
                $0.member("replaces", isReplacing)
                $0.members(of: backup, keyFile: keyFile(of: backup, path))
            }
        }
        let accounts = backup.accounts.counting("account")
        if dryRun {
            let verb = isReplacing ? "would replace the backup" : "would write"
            try console.line("\(verb) \(backup.path) with \(accounts)".printable)
        } else if !console.isQuiet {
            try console.line("backed up \(accounts) to \(backup.path)".printable)
            if let key = keyAdvice(backup, path) { try console.line(key.printable) }
        }
        try console.output.flush()
    }

    private func keyFile(of backup: StoreBackup, _ path: StorePath) -> String? {
        backup.keyFile(given: arguments.key, directory: path.directory)
    }

    /// What to do where the key file has another key than the one that opens the backup, or is not there.
    private func adviceOnLostKey(_ backup: StoreBackup, _ path: StorePath) -> String? {
        let source = arguments.key ?? backup.keySource
        guard let keyID = backup.keyID, keyFile(of: backup, path) == nil,
            let file = source.filePath(directory: path.directory)
        else { return nil }
        return "\(file) does not have the key (\(keyID)) that opens the backup; find it before you rely on the backup"
    }

    /// Which key opens the backup, and what to do about it; nil if nothing is sealed in it, or the key is not there.
    private func keyAdvice(_ backup: StoreBackup, _ path: StorePath) -> String? {
        guard let keyID = backup.keyID else { return nil }
        let key = "(\(keyID))"
        if let file = keyFile(of: backup, path) {
            return "the key file \(file) \(key) opens it; keep a copy of that too, in another place"
        }
        let source = arguments.key ?? backup.keySource
        guard source.filePath(directory: path.directory) == nil else { return nil }
        return switch source.kind {
        case .passphrase: "the passphrase of the store opens it"
        case .environment: "the key in TOKENSTORE_KEY \(key) opens it; keep a copy of that too, in another place"
        case .credential: "the key of \(source) \(key) opens it; keep a copy of that too, in another place"
        case .command: "the program of \(source) unwraps the key \(key) that opens it, and so has to stay available"
        case .file, .keychain, .secretService:
            "the key in the keyring of this user \(key) opens it, so keep a copy of the keyring too"
        }
    }
}

extension StoreBackup {
    /// The key file that opens the backup: of the source that was given, or of its own; nil where neither has its key.
    func keyFile(given source: KeySource?, directory: String) -> String? {
        guard let keyID else { return nil }
        let sources = [source, keySource].compactMap(\.self)
        return sources.first { $0.fileKeyID(directory: directory) == keyID }?.filePath(directory: directory)
    }
}

extension JSONOutput {
    /// Writes the members of a backup.
    mutating func members(of backup: StoreBackup, keyFile: String?) {
        member("file", backup.path)
        member("accounts", backup.accounts)
        member("keySource", backup.keySource.description)
        member("keyFile", keyFile)
        member("keyId", backup.keyID)
    }
}
