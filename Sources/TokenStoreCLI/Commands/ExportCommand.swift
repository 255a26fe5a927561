import ArgumentParser
import Sealing
import TokenStorage

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        _superCommandName: "tokenstore",
        abstract: "Write an MSAL cache with everything the store holds.",
        discussion: """
            Writes the unified cache of MSAL to standard output, or to FILE with mode 0600. FILE is replaced by a \
            rename, so it is never half written. Imported rows that were quarantined, and unknown fields, are \
            exported unchanged. The document holds every token in plain text; it is written to a terminal only with \
            --yes. An existing FILE is replaced after a question, or with --yes; a file of the store never is.

            EXAMPLES
              tokenstore export ~/cache.json
              tokenstore export | ssh host tokenstore import
            """
    )

    @Argument(help: "Output file; - for standard output.", completion: .file())
    var file: String?

    @Option(help: "Output format.")
    var format = DocumentFormat.msal

    @Flag(help: "Write nothing; print what would be written.")
    var dryRun = false

    @Flag(help: "Replace an existing FILE, and write secrets even to a terminal, without asking.")
    var yes = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws { try FileName.check(file, hint: "name a file, or - for standard output") }

    func run() throws {
        let console = arguments.console
        guard let file, file != "-" else { return try exportToStandardOutput(console) }
        if !dryRun { try arguments.takeInAnswers(console) }
        // An empty document in the place of a backup would be a loss.
        guard let store = try arguments.inspected() else {
            throw CommandFailure(
                .noMatch,
                "\(try CommandFailure.absence(of: arguments.location)), and \(file) was not changed",
                "name the store with --store, or \(CommandFailure.filling(try arguments.location))"
            )
        }
        try arguments.tellDelay(of: store, console)
        let files = try store.files()
        try OutputFile.check(file, sparing: files)
        let isTaken = OutputFile.isTaken(file)
        if dryRun {
            try report(file, isTaken ? "would replace" : "would write", console)
        } else {
            if isTaken { try Confirmation(question: "Replace \(file)").ask(arguments, isGiven: yes) }
            let target = try OutputFile(file, sparing: files, replacing: isTaken || yes)
            try export(store, console, to: target.write)
            try target.commit()
            try report(file, isTaken ? "replaced" : "wrote", console)
        }
    }

    private func report(_ file: String, _ verb: String, _ console: Console) throws {
        tell("\(verb) \(file), which holds every token in plain text", console)
        try describe(file, console)
    }

    /// Says what was done, or what would be: that is what a dry run is asked for, and --quiet leaves it.
    private func tell(_ text: String, _ console: Console) {
        if dryRun { console.warn(text) } else { console.note(text) }
    }

    private func describe(_ file: String, _ console: Console) throws {
        guard arguments.json else { return }
        try console.document {
            $0.member("file", file)
            $0.member("dryRun", dryRun)
        }
    }

    private func exportToStandardOutput(_ console: Console) throws {
        if dryRun {
            // What the command refuses of the store, this does too. Where it writes to is often another place.
            let isThere = try arguments.inspect(console) != nil
            let document = isThere ? "every token in plain text" : "an empty cache"
            tell("would write \(document) to standard output", console)
            return try describe("-", console)
        }
        guard !console.terminal.isTerminal || yes else {
            throw CommandFailure(
                .failure,
                "standard output is a terminal, and the cache holds every token in plain text",
                "name a FILE, or add --yes"
            )
        }
        try arguments.takeInAnswers(console)
        if let store = try arguments.inspect(console) {
            try export(store, console) { try console.output.write($0) }
        } else {
            try console.output.write("{}\n")
        }
        try console.output.flush()
    }

    private func export(
        _ store: StoreInspection,
        _ console: Console,
        to write: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let name = file ?? "-"
        try store.tellUnfinishedCopy(console)
        let progress = ProgressLine("exporting", console) { _ in
            let outcome = name == "-" ? "the document is not whole" : "\(name) is as it was"
            return (outcome, advice: "run it again")
        }
        try progress.showing { try store.exportMSALCache(progress: $0, write: write) }
        let count = try store.boundSessionCount()
        guard count > 0 else { return }
        let sessions = count.counting("session")
        console.warn("the tokens of \(sessions) with --dpop are left out; sign in again where they are needed")
    }
}
