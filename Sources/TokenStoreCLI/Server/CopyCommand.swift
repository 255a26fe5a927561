import ArgumentParser
import OAuth
import Sealing
import Synchronization
import TokenStorage

struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        _superCommandName: "tokenstore",
        abstract: "Move a store to another place: from a file to a server, or back.",
        discussion: """
            Every value is sealed anew under the key of the target, counted, and opened there again. TO must be empty. \
            A file is created; make a store on a server first, with 'tokenstore init'. If an earlier run has copied \
            everything, nothing is done.

            As soon as the move starts, FROM takes no more writes, and programs that try get an error with the new \
            address: two stores with the same refresh tokens would end each other's sessions. If the command is \
            interrupted, run it again, or take the move back with --undo. --keep-source leaves FROM as it is, for a \
            trial or an archive.

            EXAMPLES
              tokenstore copy ./sessions/ postgresql://owner@db.example/sessions
              tokenstore copy --keep-source postgresql://owner@db.example/sessions \\
                  /backup/sessions.db --key file:/mnt/usb/tokenstore.key
              tokenstore copy --undo ./sessions/
            """
    )

    @Argument(help: ArgumentHelp("The store as it is: a path, or the address of a server.", valueName: "from"))
    var source: String

    @Argument(help: ArgumentHelp("The new path or address.", valueName: "to"))
    var target: String?

    @Flag(help: "Copy only: programs go on writing to FROM.")
    var keepSource = false

    @Flag(help: "Take a move back: programs may write to FROM again.")
    var undo = false

    @Option(
        help: ArgumentHelp("Where the key of FROM is, if not where FROM records it.", valueName: "source"),
        completion: StoreCompletion.keySources,
        transform: { try KeySource(argument: $0) }
    )
    var sourceKey: KeySource?

    @Flag(help: "Change nothing; print what would be copied.")
    var dryRun = false

    @Flag(help: "Go ahead without asking.")
    var yes = false

    @OptionGroup(title: "Options of every command (here --key is the target's, and --store is not taken)")
    var arguments: StoreArguments

    func validate() throws {
        guard arguments.store == nil else {
            throw ValidationError("--store does not say which of the two it names", hint: "name FROM and TO alone")
        }
        guard undo == (target == nil) else {
            throw ValidationError(
                undo ? "--undo takes one store" : "no target is given",
                hint: undo ? "name the one that was moved" : "name FROM and TO"
            )
        }
        for place in [source, target].compactMap(\.self) {
            do { _ = try StoreLocation(place, isArgument: true) } catch { throw ValidationError(error) }
        }
    }

    func run() throws {
        let from = try StoreLocation(source, isArgument: true)
        let to = try target.map { try StoreLocation($0, isArgument: true) }
        do {
            // What is noted here is about FROM alone.
            var console = arguments.console
            console.given = GivenStore(key: sourceKey?.description)
            guard let to else { return try undoMove(of: from, console) }
            try copy(from: from, to: to, console)
        } catch let error as TokenStoreError {
            guard let hint = self.hint(error, from, to) else { throw error }
            throw CommandFailure(error).hinting(hint)
        }
    }

    /// What to do about one of the two places, which no option names.
    private func hint(_ error: TokenStoreError, _ from: StoreLocation, _ to: StoreLocation?) -> String? {
        guard let remedy = error.remedy else { return nil }
        switch remedy.code {
        case .choosePath:
            return remedy.path.map { "name the file itself: \($0.shellWord)" }
                ?? (error.code == .noStore ? "check FROM" : "check FROM and TO")
        case .setAside: return "check FROM and TO"
        case .moveStore: return remedy.advice
        case .undoMove where remedy.path == nil:
            let isAboutTarget = error.code == .moved
            let place = (isAboutTarget ? to ?? from : from).fullDescription.shellWord
            guard isAboutTarget else {
                return "to have the accounts again that are at the old place, take the move back with "
                    + "'tokenstore copy --undo \(place)'"
            }
            return "take that move back with 'tokenstore copy --undo \(place)', delete what is there with "
                + "'tokenstore purge --all --store \(place)', and copy then"
        default:
            guard let target, let to, error.path == to.description else {
                return remedy.hint(keyOption: "--source-key")
                    .naming(GivenStore(store: source, key: sourceKey?.description))
            }
            return remedy.hint.naming(GivenStore(store: target, key: arguments.key?.description))
        }
    }

    private func copy(from source: StoreLocation, to target: StoreLocation, _ console: Console) throws {
        let plan = try TokenStore.planCopy(
            from: source,
            to: target,
            reading: reading,
            writing: arguments.options(),
            keepsSource: keepSource
        )
        if plan.isPartial {
            console.warn("\(source) is itself an unfinished copy; what is missing in it will be missing in this one")
        }
        if dryRun {
            guard !plan.wasDone else { return try tellDone(source, target, console) }
            try requireKeys(of: source, and: target)
            return try write(plan, source, target, "would \(verb)", console)
        }
        let warning = keepSource ? "" : ", after which nothing is written to \(source) any more"
        let question =
            "\(keepSource ? "Copy" : "Move") \(plan.accounts.counting("account")) from \(source) to \(target)\(warning)"
        try Confirmation(question: question).ask(arguments, isGiven: yes || plan.wasDone)
        let report = try copied(source, target, console)
        guard !report.wasDone else { return try tellDone(source, target, console) }
        try write(report, source, target, keepSource ? "copied" : "moved", console)
        tellNext(report, source, target, console)
    }

    /// Copies, with a line that says how far it is.
    private func copied(_ source: StoreLocation, _ target: StoreLocation, _ console: Console) throws -> CopyReport {
        let isKept = keepSource
        let hasBegun = LockedValue(false)
        let progress = ProgressLine(keepSource ? "copying" : "moving", console) { _ in
            guard hasBegun.withLock(\.self) else {
                return ("nothing was \(isKept ? "copied" : "moved")", advice: "run it again")
            }
            guard !isKept else { return ("\(target) is not whole", advice: "copy again, to an empty store") }
            return ("\(source) waits for the rest to be moved", advice: "run it again, or take it back with --undo")
        }
        return try progress.showing { update in
            try TokenStore.copy(
                from: source,
                to: target,
                reading: reading,
                writing: arguments.options(),
                keepsSource: keepSource,
                progress: { step in
                    // Until accounts are counted the source is only looked at.
                    if step.unit == "accounts" { hasBegun.withLock { $0 = true } }
                    try update(step)
                }
            )
        }
    }

    /// Says what is to be done with the two stores now.
    private func tellNext(_ report: CopyReport, _ source: StoreLocation, _ target: StoreLocation, _ console: Console) {
        guard !keepSource else {
            return console.note("both have the same refresh tokens now; only one of the two can go on using them")
        }
        guard report.leftAlone == 0 else {
            return console.warn(
                "programs changed \(report.leftAlone.counting("account")) at \(target) during the move, which "
                    + "\(report.leftAlone == 1 ? "was" : "were") kept; the tokens of other clients for "
                    + "\(report.leftAlone == 1 ? "it" : "them") are only at \(source): keep that until those clients have "
                    + "signed in again"
            )
        }
        console.note(
            "nothing is written to \(source) any more; when the new place works, delete the old one with "
                + "'tokenstore purge --all --store \(source.fullDescription.shellWord)'"
        )
    }

    /// Makes sure, as far as it can be known, that the copy will have the keys of both; makes none.
    private func requireKeys(of source: StoreLocation, and target: StoreLocation) throws {
        var reading = reading
        reading.mayReadStandby = false
        _ = try TokenStore.inspect(at: source, options: reading)
        var writing = arguments.options()
        if let path = target.path, path.isVacant {
            return try TokenStore.requireCreatable(at: path, options: writing)
        }
        writing.mayReadStandby = false
        do {
            _ = try TokenStore.inspect(at: target, options: writing)
        } catch let error as TokenStoreError where error.code == .olderStore {
            // The copy brings it up to date.
        }
    }

    /// Says that an earlier run has done it; what programs have changed at the target since then is as it was.
    private func tellDone(_ source: StoreLocation, _ target: StoreLocation, _ console: Console) throws {
        if arguments.json {
            try document(nil, source, target, console)
        } else if dryRun || !console.isQuiet {
            let deed = dryRun ? "would be done" : "was done"
            try console.line("\(source) was copied to \(target) before; nothing \(deed)".printable)
            try console.output.flush()
        }
        if keepSource { console.note("to make a new copy, name an empty store as the target") }
    }

    private var verb: String { keepSource ? "copy" : "move" }

    private var reading: StoreOptions {
        var options = arguments.options()
        options.keySource = sourceKey
        return options
    }

    private func undoMove(of source: StoreLocation, _ console: Console) throws {
        var undo = try TokenStore.undoMove(at: source, options: reading, dryRun: true)
        if undo.place != nil, !dryRun {
            let question = "Let programs write to \(source) again, although the store was moved"
            try Confirmation(question: question).ask(arguments, isGiven: yes)
            undo = try TokenStore.undoMove(at: source, options: reading)
        }
        guard !arguments.json else { return try document(nil, source, nil, undo: undo, console) }
        if dryRun || !console.isQuiet {
            let deed = (dryRun ? "would let" : "let") + " programs write to \(source) again"
            try console.line((undo.place == nil ? "\(source) was not moved; nothing was done" : deed).printable)
            try console.output.flush()
        }
        tellRest(undo, console)
    }

    /// Says what is at the target of a move that was taken back.
    private func tellRest(_ undo: MoveUndo, _ console: Console) {
        guard let place = undo.place, undo.accounts != 0 else { return }
        let rest =
            undo.accounts.map { "\($0.counting("account")) \($0 == 1 ? "stays" : "stay") at \(place)" }
            ?? "what came to \(place) stays there"
        console.note("\(rest), with the same refresh tokens: go on with one of the two stores alone")
    }

    private func write(
        _ report: CopyReport,
        _ source: StoreLocation,
        _ target: StoreLocation,
        _ deed: String,
        _ console: Console
    ) throws {
        guard !arguments.json else { return try document(report, source, target, console) }
        guard dryRun || !console.isQuiet else { return }
        let counts = [
            report.accounts.counting("account"), report.accessTokens.counting("access token"),
            report.refreshTokens.counting("refresh token"), report.idTokens.counting("ID token"),
        ]
        let resumed = report.wasResumed ? ", going on with a move that was cut off" : ""
        try console.line("\(deed) \(counts.joined(separator: ", ")) to \(target)\(resumed)".printable)
        try console.output.flush()
    }

    private func document(
        _ report: CopyReport?,
        _ source: StoreLocation,
        _ target: StoreLocation?,
        undo move: MoveUndo? = nil,
        _ console: Console
    ) throws {
        try console.document {
            $0.member("dryRun", dryRun)
            $0.member("from", source.description)
            $0.member("to", target?.description)
            $0.member("undo", undo)
            $0.member("movedTo", move?.place)
            $0.member("accountsThere", move?.accounts)
            $0.member("keepsSource", keepSource)
            $0.member("resumed", report?.wasResumed ?? false)
            guard let report else { return $0.member("copied", JSONValue.null) }
            $0.object("copied") {
                $0.member("accounts", report.accounts)
                $0.member("accessTokens", report.accessTokens)
                $0.member("refreshTokens", report.refreshTokens)
                $0.member("idTokens", report.idTokens)
                $0.member("leftAlone", report.leftAlone)
            }
        }
    }
}
