import ArgumentParser
import TokenStorage

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        _superCommandName: "tokenstore",
        abstract: "Write an MSAL cache with everything the store holds.",
        discussion: """
            Writes the unified cache of MSAL to standard output, or to FILE with mode 0600 by a temporary file beside \
            it and a rename, so that FILE is never half written. What an import brought and could not interpret comes \
            back unchanged. The document holds every token in plain text: a terminal gets it only with --yes.

            EXAMPLES
              tokenstore export ~/cache.json
              tokenstore export | ssh host tokenstore import
            """
    )

    @Argument(help: "Where to; - is standard output.", completion: .file())
    var file: String?

    @Option(help: "What to write.")
    var format = DocumentFormat.msal

    @Flag(help: "Write secrets even to a terminal.")
    var yes = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        guard let file, file != "-" else { return try exportToStandardOutput(console) }
        guard !file.isEmpty else { throw ValidationError("FILE is empty; name a file, or - for standard output") }
        let target = try OutputFile(file)
        try export(console, to: target.write)
        try target.commit()
        console.note("wrote \(file), which holds every token in plain text")
        if arguments.json { try console.document { $0.member("file", file) } }
    }

    private func exportToStandardOutput(_ console: Console) throws {
        guard !console.terminal.isTerminal || yes else {
            throw CommandFailure(
                .failure,
                "standard output is a terminal, and the cache holds every token in plain text",
                "name a FILE, or add --yes"
            )
        }
        try export(console) { try console.output.write($0) }
        try console.output.flush()
    }

    private func export(_ console: Console, to write: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard let store = try arguments.inspect(console) else {
            return try Array("{}\n".utf8).withUnsafeBytes(write)
        }
        try ProgressLine("exporting", console).showing { try store.exportMSALCache(progress: $0, write: write) }
    }
}
