import ArgumentParser
import OAuth
import Sealing
import TokenStorage

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        _superCommandName: "tokenstore",
        abstract: "Put a backup in the place of the store.",
        discussion: """
            The backup is checked, and opened with its key, before anything is changed. If the key is not where the \
            backup says, name it with --key. A store that is there is replaced after a question, or with --yes, and \
            kept beside the new one. No other program may have it open.

            An issuer that changes refresh tokens with each use refuses those that were used since the backup: these \
            accounts have to sign in again.

            EXAMPLES
              tokenstore restore ~/backups/tokenstore.db
              tokenstore restore --dry-run ~/backups/tokenstore.db
              tokenstore restore --key file:/mnt/usb/key /mnt/usb/tokenstore.db
            """
    )

    @Argument(help: "The backup.", completion: .file())
    var file: String

    @Flag(help: "Change nothing; print what would be done.")
    var dryRun = false

    @Flag(help: "Replace the store without asking.")
    var yes = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws { try FileName.check(file, hint: "name a backup") }

    func run() throws {
        let console = arguments.console
        let path = try arguments.requirePath(
            "a backup is restored to a file",
            "name one with --store, then move it to the server with 'tokenstore copy FILE ADDRESS'"
        )
        let plan = try arguments.unlocking { options in
            try TokenStore.planRestore(from: file, to: path, options: options, isTrial: dryRun)
        }
        let report = RestoreReport(restore: plan, path: path)
        if dryRun { return try report.write(arguments, isDone: false, on: console) }
        if plan.replaced != nil { try Confirmation(question: report.question).ask(arguments, isGiven: yes) }
        let restore = try arguments.unlocking { options in
            let progress = ProgressLine("restoring", console) { _ in ("nothing was changed", advice: "try again") }
            return try progress.showing { update in
                try TokenStore.restore(from: file, to: path, options: options, progress: update)
            }
        }
        try RestoreReport(restore: restore, path: path).write(arguments, isDone: true, on: console)
        if let advice = keyAdvice(restore.backup, directory: path.directory) { console.note(advice) }
    }

    /// How the store finds its key by itself, where that was read from another file than the one that it names.
    private func keyAdvice(_ backup: StoreBackup, directory: String) -> String? {
        guard let key = arguments.key, backup.keyID != nil, let file = key.filePath(directory: directory),
            file != backup.keySource.filePath(directory: directory), !isOpenedByItself(backup)
        else { return nil }
        var command = ProposedCommand("rekey")
        command.add("--store", arguments.store)
        command.add("--current-key", key.description)
        command.add("--key", KeySource.file.description)
        return "every command needs --key until '\(command.text)' has put the store under a key beside it"
    }

    /// Whether the key that the store names is a file that opens it.
    private func isOpenedByItself(_ backup: StoreBackup) -> Bool {
        guard backup.keySource.kind == .file else { return false }
        var options = arguments.options()
        options.keySource = nil
        do {
            return try TokenStore.inspect(at: arguments.location, options: options)?.status().keyProblem == nil
        } catch {
            // What keeps it from opening now keeps it from later commands, too.
            return false
        }
    }
}

/// What a restore does, or has done.
private struct RestoreReport {
    let restore: StoreRestore
    let path: StorePath

    private var backup: StoreBackup { restore.backup }

    var question: String {
        guard let replaced = restore.replaced else { return "Restore \(backup.path)" }
        return "Replace \(path.database) with \(Self.named(replaced.names, replaced.count)) "
            + "by \(backup.path) with \(Self.named(restore.accounts, backup.accounts))"
    }

    private static func named(_ names: [String], _ count: Int, limit: Int = 5) -> String {
        count.counting("account") + (count > 0 ? " (\(names.prefix(limit).listed(of: count)))" : "")
    }

    func write(_ arguments: StoreArguments, isDone: Bool, on console: Console) throws {
        if arguments.json { return try document(arguments.key, isDone: isDone, on: console) }
        guard !isDone || !console.isQuiet else { return }
        for line in isDone ? done : planned { try console.line(line.printable) }
        try console.output.flush()
    }

    private var planned: [String] {
        let new = Self.named(restore.accounts, backup.accounts, limit: .max)
        var lines = ["would restore \(new) from \(backup.path)"]
        if let replaced = restore.replaced {
            let old = Self.named(replaced.names, replaced.count, limit: .max)
            lines.append("would replace \(path.database) with \(old), and keep a copy")
        }
        if let log = restore.orphanedLog {
            lines.append("would keep \(log), the log that is left of the store, under another name")
        }
        return lines
    }

    private var done: [String] {
        var lines = ["restored \(backup.accounts.counting("account")) from \(backup.path)"]
        if let kept = restore.keptCopy {
            let old = restore.replaced == nil ? "log that was left of the store" : "store that was there"
            lines.append("the \(old) is kept as \(kept)")
        }
        return lines
    }

    private func document(_ key: KeySource?, isDone: Bool, on console: Console) throws {
        let keyFile = backup.keyFile(given: key, directory: path.directory)
        try console.document {
            $0.member("dryRun", !isDone)
            $0.object("restored") { json in
                json.members(of: backup, keyFile: keyFile)
                json.array("names", restore.accounts)
            }
            if let replaced = restore.replaced ?? (restore.keptCopy ?? restore.orphanedLog).map({ _ in ([], 0) }) {
                $0.object("replaced") { json in
                    json.member("file", path.database)
                    json.member("accounts", replaced.count)
                    json.array("names", replaced.names)
                    json.member("keptCopy", restore.keptCopy)
                }
            } else {
                $0.member("replaced", JSONValue.null)
            }
        }
    }
}
