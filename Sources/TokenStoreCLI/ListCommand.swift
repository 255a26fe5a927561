import ArgumentParser
import TokenStorage

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        _superCommandName: "tokenstore",
        abstract: "List the accounts in the store.",
        discussion: """
            One account a line: username, issuer or environment, tenant, policy, clients, how many access tokens are \
            valid and how many have expired, whether there is a refresh token, when the next access token ends, and \
            the last sign-in, refresh or import. Nothing is written. A terminal that is too narrow leaves columns \
            out, clients first; a pipe gets all of them, whole, with instants instead of distances.

            EXAMPLES
              tokenstore list
              tokenstore list --tokens --account mara@example.net
              tokenstore list --expired --policy B2C_1_SUSI
              tokenstore list --where department=finance --where roles~=admin
              tokenstore list --json --sort used --limit 1 | jq -r '.accounts[0].username'
            """
    )

    @OptionGroup(title: "Which accounts") var filters: AccountFilters

    @Flag(help: "Add a row for each access token: client, scopes, type, ends, state.")
    var tokens = false

    @Flag(help: "Only accounts whose access tokens have all ended.")
    var expired = false

    @Option(parsing: .unconditional, help: ArgumentHelp("At most so many accounts.", valueName: "n"))
    var limit: Int?

    @Option(help: ArgumentHelp("The order.", valueName: "order"))
    var sort = AccountOrder.username

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard limit ?? 0 >= 0 else { throw ValidationError("--limit is less than 0; give a number of accounts") }
    }

    func run() throws {
        let console = arguments.console
        let store = try arguments.inspectAccounts(console)
        if filters.account != nil, let policy = filters.policy() { _ = try store?.account(policy) }
        var policy = filters.policy() ?? .all
        if expired { policy = policy.and(.expired) }
        var listing: any AccountListing =
            arguments.json ? AccountDocument(console, withTokens: tokens) : AccountTable(console, withTokens: tokens)
        var count = 0
        try store?.forEachAccount(matching: policy, sortedBy: sort, limit: limit, withTokens: tokens) { summary in
            count += 1
            try listing.add(summary)
        }
        try listing.finish(of: count == limit ? store?.accountCount(matching: policy) ?? 0 : count)
        if count == 0, store != nil, limit != 0 {
            let isNarrowed = expired || !filters.isEmpty
            console.note(isNarrowed ? "no account fits; 'tokenstore list' shows all" : "the store has no account")
        }
    }
}
