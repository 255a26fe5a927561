import ArgumentParser
import TokenStorage

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        _superCommandName: "tokenstore",
        abstract: "Check the file, the schema and every sealed value.",
        discussion: """
            Prints each problem and where it is; the exit status is 6 if there is one. Nothing is written without \
            --repair, which moves every readable row into a new file, keeps the damaged one beside it and says what \
            was lost. It asks once.

            EXAMPLES
              tokenstore check
              tokenstore check --repair
            """
    )

    @Flag(help: "Salvage what can be read into a new file.")
    var repair = false

    @Flag(help: "With --repair: change nothing; print the problems.")
    var dryRun = false

    @Flag(help: "With --repair: go ahead without asking.")
    var yes = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        let path = arguments.path.database
        let problems = try problems(console)
        guard repair, !dryRun, !problems.isEmpty else {
            try CheckReport(problems: problems, repair: nil).write(arguments, on: console)
            guard problems.isEmpty else {
                let message = "\(path) has \(problems.count.counting("problem"))"
                throw CommandFailure(.storeDamaged, message, "salvage it with 'tokenstore check --repair'")
            }
            return
        }
        let question = "\(path) has \(problems.count.counting("problem")). Replace it by what is readable"
        try Confirmation(question: question).ask(arguments, isGiven: yes)
        let report = try ProgressLine("repairing", console).showing { update in
            try TokenStore.repair(at: arguments.path, options: arguments.options(), progress: update)
        }
        try CheckReport(problems: problems, repair: report).write(arguments, on: console)
    }

    private func problems(_ console: Console) throws -> [StoreProblem] {
        do {
            guard let store = try arguments.inspect(console) else { return [] }
            return try ProgressLine("checking", console).showing { try store.check(progress: $0) }
        } catch let error as TokenStoreError where error.kind == .damaged && repair {
            // Too damaged to open: that is the problem, and repair is for it.
            return [StoreProblem(place: "file", problem: error.description)]
        }
    }
}
