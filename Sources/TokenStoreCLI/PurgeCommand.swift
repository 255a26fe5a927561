import ArgumentParser
import TokenStorage

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        _superCommandName: "tokenstore",
        abstract: "Delete expired access tokens, or accounts with everything they have.",
        discussion: """
            Without a selector it deletes expired access tokens and nothing else, and asks nothing. With --account, a \
            filter, --older-than or --all it deletes those accounts with all their tokens and claims, and asks once. \
            Deleted bytes are gone from the database, its log and its free pages. --all also removes copies that \
            a repair or an update of the store left beside it, and works on a store that is too damaged to open, and \
            on one whose key is lost: the next sign-in makes a new key.

            EXAMPLES
              tokenstore purge
              tokenstore purge --account mara@example.net
              tokenstore purge --older-than 90d --dry-run
              tokenstore purge --all --yes
            """
    )

    @OptionGroup(title: "Which accounts") var filters: AccountFilters

    @Option(
        help: ArgumentHelp("Accounts not used for so long, such as 12h, 30d or 8w.", valueName: "age"),
        transform: { try Age(parsing: $0) }
    )
    var olderThan: Age?

    @Flag(help: "All accounts, and whatever else the store holds.")
    var all = false

    @Flag(help: "Change nothing; print what would go.")
    var dryRun = false

    @Flag(help: "Go ahead without asking.")
    var yes = false

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard !all || filters.isEmpty && olderThan == nil else {
            throw ValidationError("--all leaves nothing to select; give it, or what selects accounts")
        }
    }

    func run() throws {
        let console = arguments.console
        guard !arguments.path.isVacant else {
            console.note("no store at \(arguments.path.database), nothing to purge")
            return try report(PurgeCounts(), isDryRun: dryRun).write(arguments, on: console)
        }
        if dryRun || isDestructive {
            let trial = report(try purge(console, isTrial: true), isDryRun: true)
            if dryRun { return try trial.write(arguments, on: console) }
            if all || !trial.isEmpty { try Confirmation(question: trial.question).ask(arguments, isGiven: yes) }
        }
        let counts = try purge(console, isTrial: false)
        try report(counts, isDryRun: false).write(arguments, on: console)
    }

    private func report(_ counts: PurgeCounts, isDryRun: Bool) -> PurgeReport {
        PurgeReport(counts: counts, isDryRun: isDryRun, database: arguments.path.database)
    }

    private var isDestructive: Bool { all || olderThan != nil || !filters.isEmpty }

    /// Deletes, or on a trial looks at a store that is not even opened for writing.
    private func purge(_ console: Console, isTrial: Bool) throws -> PurgeCounts {
        let options = arguments.options(unlocks: filters.needsKey)
        if all { return try TokenStore.purgeAll(at: arguments.path, options: options, dryRun: isTrial) }
        let open = isTrial ? arguments.inspect : arguments.open
        guard let store = try open(console, filters.needsKey) else { return PurgeCounts() }
        let selected = filters.policy()
        if filters.account != nil, let selected { _ = try store.account(selected) }
        let unused = olderThan.map { AccountPolicy.unused(since: max(0, console.now - $0.seconds)) }
        guard let policy = selected.map({ policy in unused.map { policy.and($0) } ?? policy }) ?? unused else {
            return try store.purgeExpired(dryRun: isTrial)
        }
        return try store.purge(policy, dryRun: isTrial)
    }
}
