import ArgumentParser
import TokenStorage

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        _superCommandName: "tokenstore",
        abstract: "Bring a store to the schema of this version.",
        discussion: """
            A file is migrated by the first program that opens it for writing. A store on a server is migrated by \
            this command alone: run it once, with the role that owns the tables. Programs of the previous version keep \
            working meanwhile, unless a step excludes them. If it is interrupted, run it again.

            EXAMPLES
              tokenstore migrate --store postgresql://owner@db.example/sessions --dry-run
              tokenstore migrate --store postgresql://owner@db.example/sessions
            """
    )

    @Flag(help: "Change nothing; print the steps that would be taken.")
    var dryRun = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        let location = try arguments.location
        let report = try TokenStore.migrate(at: location, options: arguments.options(), dryRun: dryRun)
        if arguments.json {
            return try console.document {
                $0.member("dryRun", dryRun)
                $0.member("oldVersion", report.oldVersion)
                $0.member("newVersion", report.newVersion)
                $0.array("steps", report.steps)
            }
        }
        guard dryRun || !console.isQuiet else { return }
        for step in report.steps { try console.line((dryRun ? "would take " : "took ") + step) }
        if report.steps.isEmpty { try console.line("\(location) is of schema \(report.oldVersion) already".printable) }
        try console.output.flush()
    }
}
