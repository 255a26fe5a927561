import ArgumentParser
import OAuth
import TokenStorage

struct TagCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag",
        _superCommandName: "tokenstore",
        abstract: "Set tags of an account, such as its team, or print them.",
        discussion: """
            Tags are sealed in the store, and deleted with their account. --tag selects accounts by them. Without \
            NAME=VALUE and --remove the command prints the account's tags. An export has no place for tags.

            EXAMPLES
              tokenstore tag mara@example.net team=finance
              tokenstore tag mara@example.net
              tokenstore list --tag team=finance
              tokenstore tag mara@example.net --remove team
              tokenstore tag mara@example.net team=finance --policy B2C_1_SUSI
            """
    )

    @Argument(help: ArgumentHelp("The account.", valueName: "account"), completion: StoreCompletion.of(.account))
    var account: String

    @Argument(
        help: ArgumentHelp("A tag to set: NAME=VALUE.", valueName: "tag"),
        transform: { text in
            let tag = try TagCondition(parsing: text)
            guard tag.value != nil else { throw ValidationError("'\(text)' has no value", hint: "give NAME=VALUE") }
            return tag
        }
    )
    var tags: [TagCondition] = []

    @Option(parsing: .singleValue, help: ArgumentHelp("A tag to delete. Repeatable.", valueName: "name"))
    var remove: [String] = []

    @Flag(help: "Change nothing; print what the tags would be.")
    var dryRun = false

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard filters.account == nil else {
            throw ValidationError("here the account is the first argument", hint: "leave --account out")
        }
    }

    /// Whether tags are to be set or deleted.
    var isChange: Bool { !tags.isEmpty || !remove.isEmpty }

    func run() throws {
        let console = arguments.console
        guard try !arguments.isVacant else { throw try CommandFailure.noStore(at: arguments.location) }
        let choice = AccountChoice(filters, account: account)
        guard isChange, !dryRun else {
            guard let store = try arguments.inspectAccounts(console) else {
                throw try CommandFailure.noStore(at: arguments.location)
            }
            if isChange { try store.requireWritable() }
            let found = try store.account(choice)
            var known = try store.tags(of: found.id)
            change(&known)
            return try write(known, of: found, on: console)
        }
        let store = try arguments.open(console)
        defer { store.close() }
        let found = try store.account(choice)
        let known = try store.changeTags(of: found.id) { change(&$0) }
        try write(known, of: found, on: console)
    }

    private func change(_ known: inout [String: String]) {
        for name in remove { known[name] = nil }
        for tag in tags { known[tag.name] = tag.value }
    }

    private func write(_ known: [String: String], of account: Account, on console: Console) throws {
        let sorted = known.sorted { $0.key < $1.key }
        if arguments.json {
            try console.document {
                $0.member("dryRun", dryRun)
                $0.member("homeAccountId", account.id.homeAccountID)
                $0.member("tags", JSONValue.object(JSONValue.Object(sorted.map { ($0.key, .string($0.value)) })))
            }
        } else if !console.isQuiet || dryRun || !isChange {
            for (name, value) in sorted { try console.line("\(name)=\(value)".printable) }
            if sorted.isEmpty, dryRun, isChange {
                try console.line("\(account.nameAndUserFlow) would have no tags".printable)
            }
            try console.output.flush()
        }
    }
}
