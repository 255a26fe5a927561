import ArgumentParser
import Sealing
import TokenStorage

struct RekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        _superCommandName: "tokenstore",
        abstract: "Seal every value anew, or move the store to another key source.",
        discussion: """
            Without --key it makes a new data key and seals every value anew. If it is interrupted, every value stays \
            readable and the next run finishes it. With --key SOURCE the key in that source, a new one if there is \
            none, takes the place of the current key; backups still need the old one. --current-key says where the \
            current key is, if it is not where the store records it.

            If someone may have both the database and its key, use --leaked: without it that person could also read \
            what is stored later. It changes both keys, with --key for the new one. What was stored before can still \
            be read, so sign out and in again afterwards.

            A row that was altered outside the program cannot be opened. One that counts for nothing then, such as an \
            entry of the record of use, is left out. As long as one of an account, a token or a key is there, the old \
            data key stays, and the command exits with 6 once everything else is sealed anew.

            Copies of the store that a repair or an update left beside it open with the old keys. The command removes \
            them after a question, or with --yes.

            EXAMPLES
              tokenstore rekey
              tokenstore rekey --key passphrase
              tokenstore rekey --leaked --key file:/mnt/usb/tokenstore.key
            """
    )

    @Option(
        help: ArgumentHelp("Where the current key is, if not where the store says.", valueName: "source"),
        completion: StoreCompletion.keySources,
        transform: { try KeySource(argument: $0) }
    )
    private var currentKey: KeySource?

    @Flag(help: "Change both keys, because someone may have the database and its key; needs --key.")
    var leaked = false

    @Flag(help: "Change nothing; print what would be done.")
    var dryRun = false

    @Flag(help: "Remove copies of the store that the old keys open, without asking.")
    var yes = false

    @OptionGroup(title: "Options of every command (here --key names the new source)") var arguments: StoreArguments

    func validate() throws {
        guard !leaked || arguments.key != nil else {
            throw ValidationError(
                "--leaked needs another key",
                hint: "name its source with --key, such as file:PATH or passphrase"
            )
        }
    }

    func run() throws {
        let console = arguments.console
        guard try !arguments.isVacant else {
            throw CommandFailure(
                .failure,
                try CommandFailure.absence(of: arguments.location),
                "make one with 'tokenstore import --key SOURCE FILE'"
            )
        }
        var options = arguments.options()
        options.keySource = currentKey
        if dryRun { return try writePlan(options, on: console) }
        let removes = try mayRemoveCopies(options)
        let report = try rekey(console, removesCopies: removes)
        // The store is closed: what looks after its files, as a restore does, waits for programs that have it open.
        let (copies, problem) = try removedCopies(options, removes: removes)
        try write(report, removed: copies.removed, on: console)
        for copy in copies.kept {
            console.warn("\(copy) was not removed, and opens with the old keys; remove it if you do not need it")
        }
        if let problem { console.warn("not all of its copies were removed, as \(problem)") }
    }

    private func rekey(_ console: Console, removesCopies: Bool) throws -> RekeyReport {
        let store = try open(removesCopies: removesCopies)
        defer { store.close() }
        let progress = ProgressLine("sealing", console) { progress in
            let count = progress.done.counting("row")
            return (
                "\(count) of \((progress.total ?? 0).grouped) are dealt with; every value stays readable",
                advice: "run 'tokenstore rekey' to finish it"
            )
        }
        return try progress.showing { update in
            try store.rekey(to: arguments.key, afterLeak: leaked, progress: update)
        }
    }

    /// Removes the copies of the store, if that is wanted; what keeps it from that does not undo the rekey.
    private func removedCopies(_ options: StoreOptions, removes: Bool) throws -> (StoreCopies, problem: String?) {
        func kept() throws -> StoreCopies {
            let copies = try copies(options, dryRun: true)
            return StoreCopies(kept: copies.kept + copies.removed)
        }
        guard removes else { return (try kept(), nil) }
        let before = try copies(options, dryRun: true).removed
        do {
            return (try copies(options, dryRun: false), nil)
        } catch let error as TokenStoreError {
            let kept = try kept().kept
            return (StoreCopies(removed: before.filter { !kept.contains($0) }, kept: kept), error.problem)
        }
    }

    private func open(removesCopies: Bool) throws -> TokenStore {
        try unlocking { options in
            var options = options
            options.removesCopies = removesCopies
            return try TokenStore.open(at: arguments.location, options: options)
        }
    }

    /// Runs `body`, which opens the store under its current key; `--key` does not name that here.
    private func unlocking<Result>(_ body: (StoreOptions) throws -> Result) throws -> Result {
        do {
            return try arguments.unlocking { options in
                var options = options
                options.keySource = currentKey
                return try body(options)
            }
        } catch let error as TokenStoreError where error.code == .key {
            let failure = CommandFailure(error)
            throw error.remedy.map { failure.hinting($0.hint(keyOption: "--current-key")) } ?? failure
        }
    }

    /// Removes the copies of the store beside it; a server has none.
    private func copies(_ options: StoreOptions, dryRun: Bool) throws -> StoreCopies {
        guard let path = try arguments.location.path else { return StoreCopies() }
        return try TokenStore.removeCopies(at: path, options: options, dryRun: dryRun)
    }

    /// Asks about the copies of the store; without a terminal they stay.
    private func mayRemoveCopies(_ options: StoreOptions) throws -> Bool {
        let copies = try copies(options, dryRun: true).removed
        guard !yes, !copies.isEmpty else { return yes }
        guard arguments.mayAsk else { return false }
        let question = "The old keys open \(copies.joined(separator: ", ")). Overwrite and remove that as well"
        return Confirmation(question: question).isAgreed()
    }

    private func writePlan(_ options: StoreOptions, on console: Console) throws {
        var source = arguments.key?.description
        let isSealing = arguments.key == nil || leaked
        var altered = 0
        do {
            try unlocking { options in
                var options = options
                options.mayReadStandby = false
                guard let store = try TokenStore.inspect(at: arguments.location, options: options) else { return }
                try store.requireWritable()
                if leaked, let key = arguments.key { try store.requireOtherKey(from: key) }
                source = try source ?? store.status().keySource
                if isSealing {
                    let progress = ProgressLine("checking", console) { _ in
                        ("nothing is changed", advice: "run it again")
                    }
                    altered = try progress.showing { try store.rehearseResealing(progress: $0) }
                }
            }
        } catch let error as TokenStoreError where error.code == .olderStore {
            // A rekey migrates it.
        }
        if let key = arguments.key { try TokenStore.requireUsable(key, at: arguments.location, options: options) }
        let copies = try copies(options, dryRun: true).removed
        if arguments.json {
            try document(nil, altered: altered, source: source, removed: copies, on: console)
        } else {
            if isSealing { try console.line("would seal every value anew under a new data key") }
            if altered > 0 {
                try console.line("would leave out \(altered.counting("altered row")), which cannot be opened")
            }
            if let key = arguments.key { try console.line("would move the key to \(key)".printable) }
            for copy in copies { try console.line("would ask whether to remove \(copy)".printable) }
            try console.output.flush()
        }
    }

    /// A dry run has no report.
    private func document(
        _ report: RekeyReport?,
        altered: Int,
        source: String?,
        removed: [String],
        on console: Console
    ) throws {
        try console.document {
            $0.member("dryRun", report == nil)
            $0.member("resealed", report?.resealed)
            $0.member("alteredRows", altered)
            $0.member("keySource", source)
            $0.member("resumed", report?.resumed ?? false)
            $0.member("note", report?.note)
            $0.array("removedFiles", removed)
        }
    }

    private func write(_ report: RekeyReport, removed: [String], on console: Console) throws {
        if arguments.json {
            try document(
                report,
                altered: report.altered,
                source: report.keySource,
                removed: removed,
                on: console
            )
        } else if !console.isQuiet {
            let resumed = report.resumed ? ", finishing a rekey that was interrupted" : ""
            if report.resealed > 0 || report.resumed || arguments.key == nil {
                try console.line("sealed \(report.resealed.counting("value")) anew\(resumed)")
            }
            if report.altered > 0 {
                let rows = report.altered.counting("altered row")
                try console.line("left out \(rows), which cannot be opened")
            }
            try console.line("key source \(report.keySource)".printable)
            for file in removed { try console.line("removed \(file)".printable) }
            try console.output.flush()
        }
        if !arguments.json, let note = report.note { console.note(note) }
    }
}
