import ArgumentParser
import TokenStorage

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        _superCommandName: "tokenstore",
        abstract: "Take over the accounts and tokens of an MSAL cache.",
        discussion: """
            Reads the unified cache of MSAL (JSON) from FILE, or from standard input with - or in a pipe. A document \
            that is no JSON changes nothing; a row that cannot be read is reported and kept aside, the others go in. \
            Importing the same file twice changes nothing. The first import creates the store. FILE stays as it is; \
            delete it if its plain-text tokens are no longer needed.

            EXAMPLES
              tokenstore import ~/cache.json
              tokenstore import --key passphrase ~/cache.json
              ssh host cat cache.json | tokenstore import
            """
    )

    @Argument(help: "The document; - is standard input.", completion: .file())
    var file: String?

    @Option(help: "What the document is; found by looking at it if left out.")
    var format: DocumentFormat?

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard file != nil || !StandardInput.isTerminal else {
            throw ValidationError("There is no document; name a FILE, or pipe one in.")
        }
    }

    func run() throws {
        let console = arguments.console
        let document = try InputDocument(file ?? "-")
        // A document that is refused must not leave a new store behind.
        if arguments.path.isVacant {
            try TokenStore.requireMSALCache(document.bytes, isKnownFormat: format != nil)
        }
        let store = try arguments.open(console)
        let progress = ProgressLine("importing", console)
        let report = try progress.showing { update in
            try store.importMSALCache(document.bytes, isKnownFormat: format != nil, progress: update)
        }
        withExtendedLifetime(document) {}
        try ImportSummary(report: report).write(arguments, on: console)
    }
}
