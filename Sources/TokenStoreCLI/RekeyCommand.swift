import ArgumentParser
import Sealing
import TokenStorage

struct RekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        _superCommandName: "tokenstore",
        abstract: "Seal every value anew, or move the store to another key source.",
        discussion: """
            Without --key it makes a new data key and seals every value anew; interrupted, the next run finishes it, \
            and every value stays readable in between. With --key SOURCE the store's key moves to that source, the \
            new one; the current one is read from the store. --current-key says where the current key is, if it was \
            moved since.

            EXAMPLES
              tokenstore rekey
              tokenstore rekey --key passphrase
              tokenstore rekey --key file:/mnt/usb/tokenstore.key
            """
    )

    @Option(
        help: ArgumentHelp("Where the current key is, if not where the store says.", valueName: "source"),
        transform: { try KeySource(parsing: $0) }
    )
    var currentKey: KeySource?

    @OptionGroup(title: "Options of every command (here --key names the new source)") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        guard !arguments.path.isVacant else {
            throw CommandFailure(
                .failure,
                "there is no store at \(arguments.path.database)",
                "make one with 'tokenstore import --key SOURCE FILE'"
            )
        }
        var options = arguments.options()
        options.keySource = currentKey
        let store = try TokenStore.open(at: arguments.path, options: options)
        let report = try ProgressLine("sealing", console).showing { update in
            try store.rekey(to: arguments.key, progress: update)
        }
        try write(report, on: console)
    }

    private func write(_ report: RekeyReport, on console: Console) throws {
        if arguments.json {
            try console.document {
                $0.member("resealed", report.resealed)
                $0.member("keySource", report.keySource)
                $0.member("resumed", report.resumed)
                $0.member("note", report.note)
            }
        } else if !console.isQuiet {
            let resumed = report.resumed ? ", finishing a rekey that was interrupted" : ""
            try console.line("sealed \(report.resealed.counting("value")) anew\(resumed)")
            try console.line("key source \(report.keySource)".printable)
            if let note = report.note { console.note(note) }
            try console.output.flush()
        }
    }
}
