import ArgumentParser
import OAuth
import TokenStorage

struct UseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        _superCommandName: "tokenstore",
        abstract: "Choose the default account, or print it.",
        discussion: """
            'token', 'exec', 'credential', 'whoami', 'claims', 'explain' and 'logout' take the default account \
            when several fit. It is kept in the store, for every program that uses it; 'list' marks it with *. \
            TOKENSTORE_ACCOUNT wins over it, and --account and filters win over both. Without an account the command \
            prints the default one.

            EXAMPLES
              tokenstore use mara@example.net
              tokenstore use mara@example.net --policy B2C_1_SUSI
              tokenstore use
              tokenstore use --unset
            """
    )

    @Argument(help: ArgumentHelp("The account.", valueName: "account"), completion: StoreCompletion.of(.account))
    var account: String?

    @Flag(help: "Have no default account.")
    var unset = false

    @Flag(help: "Change nothing; print what the default account would be.")
    var dryRun = false

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        try filters.requireUnnamed(beside: account)
        guard !unset || policy == nil else {
            throw ValidationError("--unset names no account", hint: "leave the account out, or --unset")
        }
    }

    private var policy: AccountPolicy? { filters.policy(account: account) }

    /// Whether the default account is to be another one, or none.
    var isChange: Bool { unset || policy != nil }

    func run() throws {
        let console = arguments.console
        guard try policy == nil || !arguments.isVacant else { throw try CommandFailure.noStore(at: arguments.location) }
        if isChange, !dryRun, try !arguments.isVacant { return try change(console) }
        let store = try arguments.inspectAccounts(console)
        if isChange { try store?.requireWritable() }
        if let policy {
            guard let store else { throw try CommandFailure.noStore(at: arguments.location) }
            return try write("would use", store.account(policy), in: store, on: console)
        }
        let chosen = try store?.defaultAccount()
        if unset {
            try writeUnset(chosen, console)
        } else if let chosen, let store {
            try write(nil, chosen, in: store, on: console)
        } else {
            try writeNone(console, store == nil ? nil : "no default account; choose one with 'tokenstore use ACCOUNT'")
        }
        if let variable = AccountChoice.variable {
            console.note("\(AccountChoice.variableName) is '\(variable)', which wins over the default account")
        }
    }

    private func change(_ console: Console) throws {
        let store = try arguments.open(console)
        defer { store.close() }
        guard let policy else {
            try store.setDefaultAccount(nil)
            return try writeNone(console, nil)
        }
        let found = try store.account(policy)
        try store.setDefaultAccount(found.id)
        try write("using", found, in: store, on: console)
    }

    /// Writes an account, behind what was done with it; nil: it was asked for.
    private func write(_ deed: String?, _ account: Account, in store: some StoreReading, on console: Console) throws {
        guard !arguments.json else {
            let summary = try store.summary(of: account.id)
            return try console.document {
                $0.member("dryRun", dryRun)
                guard let summary else { return $0.member("account", JSONValue.null) }
                $0.object("account") { $0.members(of: summary) }
            }
        }
        guard deed == nil || dryRun || !console.isQuiet else { return }
        try console.line(((deed.map { "\($0) " } ?? "") + account.nameAndUserFlow).printable)
        try console.output.flush()
    }

    /// Writes what a dry run is asked for: which account would no longer be the default one.
    private func writeUnset(_ account: Account?, _ console: Console) throws {
        guard dryRun, !arguments.json else { return try writeNone(console, nil) }
        let plan = account.map { "would no longer use \($0.nameAndUserFlow)" }
        try console.line((plan ?? "no account is the default one; nothing would be done").printable)
        try console.output.flush()
    }

    private func writeNone(_ console: Console, _ note: String?) throws {
        if let note { console.note(note) }
        guard arguments.json else { return }
        try console.document {
            $0.member("dryRun", dryRun)
            $0.member("account", JSONValue.null)
        }
    }
}
