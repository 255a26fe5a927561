public import ArgumentParser
import OAuth
public import TokenStorage

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        _superCommandName: "tokenstore",
        abstract: "List the accounts in the store.",
        discussion: """
            One account a line: username, issuer or environment, tenant, policy, clients, how many access tokens are \
            valid and how many have expired, whether there is a refresh token, when the next access token ends, and \
            the last sign-in, refresh or import. Nothing is written. On a narrow terminal columns are left out, \
            clients first. Piped output has every column, untruncated, with absolute times.

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

    @Option(parsing: .unconditional, help: ArgumentHelp("Show at most N accounts.", valueName: "n"))
    var limit: Int?

    @Option(help: ArgumentHelp("The sort order.", valueName: "order"))
    var sort = AccountOrder.username

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard limit ?? 0 >= 0 else {
            throw ValidationError("--limit is less than 0", hint: "give a number of accounts")
        }
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

/// A way to show accounts, one after the other.
protocol AccountListing {
    mutating func add(_ summary: AccountSummary) throws

    /// Ends the list, whose accounts are the first of `total`.
    mutating func finish(of total: Int) throws
}

/// Accounts as a table for people.
private struct AccountTable: AccountListing {
    private static let columns = [
        TableColumn(heading: "USERNAME", minimum: 12),
        TableColumn(heading: "ISSUER", minimum: 10, dropOrder: 4),
        TableColumn(heading: "TENANT", minimum: 8, dropOrder: 2),
        TableColumn(heading: "POLICY", minimum: 8, dropOrder: 3),
        TableColumn(heading: "CLIENTS", minimum: 8, dropOrder: 1),
        TableColumn(heading: "VALID", isNumber: true),
        TableColumn(heading: "EXPIRED", isNumber: true),
        TableColumn(heading: "REFRESH", dropOrder: 6),
        TableColumn(heading: "EXPIRES"),
        TableColumn(heading: "USED", dropOrder: 5),
    ]

    private static let tokenColumns = [
        TableColumn(heading: "CLIENT", minimum: 8, dropOrder: 2),
        TableColumn(heading: "SCOPES", minimum: 12),
        TableColumn(heading: "TYPE", dropOrder: 1),
        TableColumn(heading: "ENDS"),
        TableColumn(heading: "STATE"),
    ]

    private let console: Console
    private var table: Table
    private var count = 0

    init(_ console: Console, withTokens: Bool) {
        self.console = console
        table = Table(Self.columns, details: withTokens ? Self.tokenColumns : nil, on: console)
    }

    mutating func add(_ summary: AccountSummary) throws {
        count += 1
        let account = summary.account
        let valid = summary.validCount + summary.agingCount
        try table.add([
            TableCell(account.username),
            TableCell(issuer(of: account)),
            TableCell(summary.tenantID),
            TableCell(account.userFlow),
            TableCell(summary.clientIDs.joined(separator: ",")),
            TableCell(String(valid), style: valid > 0 ? .green : nil),
            TableCell(String(summary.expiredCount), style: summary.expiredCount > 0 ? .dim : nil),
            TableCell(summary.hasRefreshToken ? "yes" : "no"),
            TableCell(console.time(summary.nextExpiry)),
            TableCell(console.time(summary.lastUsed)),
        ])
        for token in summary.accessTokens {
            try table.addDetail([
                TableCell(token.clientID),
                TableCell(token.scopes.joined(separator: " ")),
                TableCell(token.tokenType),
                TableCell(console.time(token.expiresAt)),
                TableCell(token.state.rawValue, style: token.state.style),
            ])
        }
    }

    mutating func finish(of total: Int) throws {
        try table.finish()
        if total > count { console.note("and \((total - count).grouped) more; --limit says how many are shown") }
    }

    /// On a terminal without the scheme, which is the same for all and takes the room of what differs.
    private func issuer(of account: Account) -> String {
        let issuer = account.issuer ?? account.environment
        let scheme = "https://"
        return console.terminal.isTerminal && issuer.hasPrefix(scheme) ? String(issuer.dropFirst(scheme.count)) : issuer
    }
}

extension TokenState {
    fileprivate var style: Terminal.Style {
        switch self {
        case .valid: .green
        case .aging: .yellow
        case .expired: .dim
        }
    }
}

/// Accounts as one JSON document, written as they come.
private struct AccountDocument: AccountListing {
    private let output: BufferedOutput
    private let withTokens: Bool
    private var json = JSONOutput()

    init(_ console: Console, withTokens: Bool) {
        output = console.output
        self.withTokens = withTokens
        json.openDocument("accounts")
    }

    mutating func add(_ summary: AccountSummary) throws {
        json.startElement()
        json.object { $0.members(of: summary, withTokens: withTokens) }
        try pass()
    }

    mutating func finish(of total: Int) throws {
        json.closeDocument(total: total)
        try pass()
        try output.flush()
    }

    private mutating func pass() throws {
        try json.bytes.withUnsafeBytes { try output.write($0) }
        json.removeAll()
    }
}

extension AccountOrder: ExpressibleByArgument {}
