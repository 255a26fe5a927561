import ArgumentParser
import OAuth
import TokenStorage

struct WhoamiCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whoami",
        _superCommandName: "tokenstore",
        abstract: "Print the display name of the account that is signed in.",
        discussion: """
            The name is the 'name' claim of the newest ID token, else the username. With --tenant it is the name in \
            that tenant, else the name in the account's home tenant. If the store has several accounts, name one, or \
            choose one with 'tokenstore use'. Nothing is written, and no prompt is shown.

            EXAMPLES
              tokenstore whoami
              tokenstore whoami --policy B2C_1_SUSI
              tokenstore whoami --json | jq -r .account.username
            """
    )

    @Argument(help: ArgumentHelp("The account.", valueName: "account"), completion: StoreCompletion.of(.account))
    var account: String?

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard account == nil || filters.account == nil else {
            throw ValidationError("the account is named twice", hint: "leave --account out")
        }
    }

    func run() throws {
        let console = arguments.console
        let choice = AccountChoice(filters, account: account)
        guard try !choice.isNamed || !arguments.isVacant else {
            throw try CommandFailure.noStore(at: arguments.location)
        }
        guard let store = try arguments.inspectAccounts(console) else {
            if arguments.json { try AccountReport.noAccount(on: console) }
            return
        }
        let found = try store.account(choice)
        guard let summary = try store.summary(of: found.id) else {
            throw CommandFailure(.noMatch, "the account was just removed", "see the accounts with 'tokenstore list'")
        }
        let guest = try filters.tenant.flatMap { _ in
            try store.idTokens(of: found.id).first { filters.includes(tenant: $0.tenantID) }
        }
        try AccountReport(account: found, summary: summary, claims: guest?.idToken.claims)
            .writeName(asJSON: arguments.json, on: console)
    }
}

/// What a sign-in or `whoami` says of an account.
struct AccountReport {
    let account: Account
    let summary: AccountSummary

    /// Why the store has nothing of the sign-in yet.
    var pendingReason: String?

    /// Those of one tenant, if a tenant is named.
    var claims: Claims?

    /// The name to show: the `name` claim, else the username, else the id.
    var name: String {
        let names = [claims?.name ?? "", claims?.username ?? "", account.name ?? "", account.username]
        return names.first { !$0.isEmpty } ?? account.id.homeAccountID
    }

    /// Writes `deed` with the name and the username.
    func write(_ deed: String, asJSON isJSON: Bool, on console: Console) throws {
        guard !isJSON else { return try document(on: console) }
        guard !console.isQuiet else { return }
        let username = account.username.isEmpty || account.username == name ? "" : " (\(account.username))"
        try console.line("\(deed) \(name)\(username)".bounded.printable)
        try console.output.flush()
    }

    /// Writes the name alone.
    func writeName(asJSON isJSON: Bool, on console: Console) throws {
        guard !isJSON else { return try document(on: console) }
        try console.line(console.terminal.isTerminal ? name.bounded.printable : name)
        try console.output.flush()
    }

    /// What JSON says of a store that is not there yet.
    static func noAccount(on console: Console) throws {
        try console.document {
            $0.member("displayName", JSONValue.null)
            $0.member("account", JSONValue.null)
        }
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.member("displayName", name)
            $0.object("account") { $0.members(of: summary) }
            if let pendingReason { $0.member("pending", pendingReason) }
        }
    }
}
