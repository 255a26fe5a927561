import OAuth
import TokenStorage

/// Accounts as a table for people.
struct AccountTable: AccountListing {
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
            TableCell(account.policy),
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
