import ArgumentParser
import Sealing
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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

    func run() throws {
        let console = arguments.console
        guard let file, file != "-" else { return try exportToStandardOutput(console) }
        guard !file.isEmpty else {
            throw ValidationError("FILE is empty", hint: "name a file, or - for standard output")
        }
        if !dryRun { try arguments.takeInAnswers(console) }
        // An empty document in the place of a backup would be a loss.
        guard let store = try arguments.inspected() else {
            throw CommandFailure(
                .noMatch,
                "no store at \(arguments.path.database), and \(file) was not changed",
                "name the store with --store, or \(CommandFailure.filling)"
            )
        }
        let files = try store.files()
        try OutputFile.check(file, sparing: files)
        let isTaken = OutputFile.isTaken(file)
        if dryRun {
            try report(file, isTaken ? "would replace" : "would write", console)
        } else {
            if isTaken { try Confirmation(question: "Replace \(file)").ask(arguments, isGiven: yes) }
            let target = try OutputFile(file, sparing: files)
            try export(store, console, to: target.write)
            try target.commit()
            try report(file, isTaken ? "replaced" : "wrote", console)
        }
    }

    private func report(_ file: String, _ verb: String, _ console: Console) throws {
        console.note("\(verb) \(file), which holds every token in plain text")
        guard arguments.json else { return }
        try console.document {
            $0.member("file", file)
            $0.member("dryRun", dryRun)
        }
    }

    private func exportToStandardOutput(_ console: Console) throws {
        if dryRun { return console.note("would write every token in plain text to standard output") }
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
        try ProgressLine("exporting", console).showing { try store.exportMSALCache(progress: $0, write: write) }
        let count = try store.boundSessionCount()
        guard count > 0 else { return }
        let sessions = count.counting("session")
        console.note("the tokens of \(sessions) with --dpop are left out; sign in again where they are needed")
    }
}

/// A file that takes its name only when it is whole; every command writes its files through this.
///
/// It replaces a regular file only if a person said so, and never one of the store's own files.
private final class OutputFile {
    private let output: BufferedOutput
    private let path: String
    private let draft: DraftFile
    private let store: StoreFiles
    private let signalMask = SignalMask()

    /// Whether a file has this name already.
    static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Opens a draft beside `path`, which only its owner may read.
    init(_ path: String, sparing store: StoreFiles) throws {
        try Self.check(path, sparing: store)
        self.path = path
        self.store = store
        guard let draft = DraftFile(for: path) else { throw Self.failure("created", path) }
        self.draft = draft
        output = BufferedOutput(draft.descriptor, name: path)
    }

    /// Writes `bytes`, unless the program is to end: then nothing is left of them.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard !signalMask.isPending else {
            throw CommandFailure(.cancelled, "interrupted, and \(path) is as it was", "try again")
        }
        try output.write(bytes)
    }

    /// Gives the draft its name.
    func commit() throws {
        try output.flush()
        try Self.check(path, sparing: store)
        guard draft.commit(replacing: Self.isTaken(path)) else { throw Self.failure("written", path) }
    }

    /// Refuses what must not be replaced by output.
    static func check(_ path: String, sparing store: StoreFiles) throws {
        guard !store.includes(path) else {
            throw CommandFailure(
                .usage,
                "\(path) is a file of a token store, and output would destroy it",
                "name another file, or - for standard output"
            )
        }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        let kind: String
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFLNK: kind = "a symbolic link"
        case S_IFDIR: kind = "a directory"
        default: kind = "not a regular file"
        }
        throw CommandFailure(
            .failure,
            "\(path) is \(kind), and secrets are written to regular files only",
            "name another file, or - for standard output"
        )
    }

    private static func failure(_ verb: String, _ path: String) -> CommandFailure {
        CommandFailure(
            .failure,
            "\(path) cannot be \(verb) (\(systemMessage()))",
            "check the directory, its permissions and its free space"
        )
    }
}
