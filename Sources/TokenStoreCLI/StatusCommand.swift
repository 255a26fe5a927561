import ArgumentParser
import TokenStorage

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        _superCommandName: "tokenstore",
        abstract: "Show where the store is, what it holds and who could read it.",
        discussion: """
            Prints the path, size, schema version, counts and key source, and in plain words who could read the \
            tokens. Nothing is written. All of it is printed even if the key is not available; then the exit status \
            is 7.

            EXAMPLES
              tokenstore status
              tokenstore status --json | jq .counts.accounts
            """
    )

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        let status = try arguments.inspect(console, unlocks: false)?.status()
        let report = StatusReport(path: arguments.path, status: status)
        if arguments.json {
            try report.document(on: console)
        } else {
            try report.text(on: console)
        }
        if let problem = status?.keyProblem { throw CommandFailure(problem) }
    }
}
