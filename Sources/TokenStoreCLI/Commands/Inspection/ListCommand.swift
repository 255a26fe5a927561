public import ArgumentParser
import OAuth
public import TokenStorage

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        _superCommandName: "tokenstore",
        abstract: "List the accounts in the store.",
        discussion: """
            One account a line: username, policy, when the next access token ends, how many are valid and how many \
            have expired, whether a refresh token renews them, the last sign-in, refresh or import, issuer or \
            environment, tenant, and clients. A star marks the default account. Nothing is written. A terminal shows \
            the columns that fit, from the front; what all accounts share stands once below them. Piped output has \
            every column, untruncated, with absolute times.

            EXAMPLES
              tokenstore list
              tokenstore list --tokens --account mara@example.net
              tokenstore list --expired --policy B2C_1_SUSI
              tokenstore list --where department=finance --where roles~=admin
              tokenstore list -o tsv --columns id,username | cut -f 1
              tokenstore list --json --sort used --limit 1 | jq -r '.accounts[0].username'
              watch tokenstore list --expired
            """
    )

    @Flag(help: "Add a row for each access token: client, scopes, type, ends, state.")
    var tokens = false

    @Flag(help: "Only accounts whose access tokens have all ended.")
    var expired = false

    @Option(parsing: .unconditional, help: ArgumentHelp("Show at most N accounts.", valueName: "n"))
    var limit: Int?

    @Option(help: ArgumentHelp("The sort order.", valueName: "order"))
    var sort = AccountOrder.username

    @Option(
        help: ArgumentHelp(
            "The columns to show, with commas: \(AccountColumn.names).",
            valueName: "names"
        ),
        completion: .list(AccountColumn.allCases.map(\.rawValue))
    )
    var columns: String?

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp(
            "table, or tsv with tabs between columns, for programs. Default: table.",
            valueName: "format"
        ),
        completion: .list(["table", "tsv"])
    )
    var format: String?

    @OptionGroup(title: "Which accounts") var filters: AccountFilters

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func validate() throws {
        guard limit ?? 0 >= 0 else {
            throw ValidationError("--limit is less than 0", hint: "give a number of accounts")
        }
        guard ["table", "tsv", nil].contains(format) else {
            throw ValidationError("--format is not table or tsv", hint: "give one of them, or --json instead")
        }
        guard !arguments.json || format == nil && columns == nil else {
            throw ValidationError("JSON has no columns", hint: "leave --json out, or --columns and --format")
        }
        guard format != "tsv" || !tokens else {
            throw ValidationError("tsv has one row an account", hint: "leave --tokens out, or give --json instead")
        }
        _ = try chosenColumns()
    }

    private func chosenColumns() throws -> [AccountColumn]? {
        try columns?.split(separator: ",", omittingEmptySubsequences: false).map { name in
            guard let column = AccountColumn(rawValue: name.lowercased()) else {
                throw ValidationError("there is no column '\(name)'", hint: "the columns are \(AccountColumn.names)")
            }
            return column
        }
    }

    func run() throws {
        let console = arguments.console
        let store = try arguments.inspectAccounts(console)
        if filters.account != nil, let policy = filters.policy() { _ = try store?.account(policy) }
        var policy = filters.policy() ?? .all
        if expired { policy = policy.and(.expired) }
        let isFilling = try store?.tellUnfinishedCopy(console) ?? false
        let count = try list(policy, of: store, console)
        if count == 0, store != nil, limit != 0, !isFilling {
            let advice = try store?.storedIssuer(meantBy: policy) ?? "'tokenstore list' shows all"
            let isNarrowed = expired || !filters.isEmpty
            console.note(isNarrowed ? "no account fits; \(advice)" : "the store has no account")
        }
    }

    /// Lists accounts; again where another program wrote to the store meanwhile and nothing is on the screen yet.
    ///
    /// - Returns: how many there were.
    private func list(_ policy: AccountPolicy, of store: StoreInspection?, _ console: Console) throws -> Int {
        var end = ContinuousClock.now + .seconds(arguments.timeout)
        var isFirst = true
        while true {
            var listing = try listing(console)
            var count = 0
            do {
                try store?.forEachAccount(matching: policy, sortedBy: sort, limit: limit, withTokens: tokens) {
                    count += 1
                    try listing.add($0)
                }
            } catch let error as TokenStoreError where error.code == .busy && error.remedy?.code == .retry {
                // A standby of a server may give up as late as a caller waits at all.
                if isFirst { (end, isFirst) = (max(end, .now + .seconds(arguments.timeout)), false) }
                guard ContinuousClock.now < end, console.output.takeBack() else { throw error }
                continue
            }
            try listing.finish(of: count == limit ? store?.accountCount(matching: policy) ?? 0 : count)
            return count
        }
    }

    private func listing(_ console: Console) throws -> any AccountListing {
        if arguments.json { return AccountDocument(console, withTokens: tokens) }
        return try AccountTable(console, columns: chosenColumns(), asTabs: format == "tsv", withTokens: tokens)
    }
}

/// A way to show accounts, one after the other.
protocol AccountListing {
    mutating func add(_ summary: AccountSummary) throws

    /// Ends the list, whose accounts are the first of `total`.
    mutating func finish(of total: Int) throws
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
