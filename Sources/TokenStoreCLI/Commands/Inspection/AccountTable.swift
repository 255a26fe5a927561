import OAuth
import TokenStorage

/// Accounts as a table: fitted to a terminal for people, whole in a pipe, or for programs between tabs.
struct AccountTable: AccountListing {
    private static let tokenColumns = [
        TableColumn(heading: "CLIENT", minimum: 8, dropOrder: 2),
        TableColumn(heading: "SCOPES", minimum: 12),
        TableColumn(heading: "TYPE", dropOrder: 1),
        TableColumn(heading: "ENDS"),
        TableColumn(heading: "STATE"),
    ]

    private let console: Console
    private let columns: [AccountColumn]
    private var table: Table
    private var count = 0

    /// A table of `chosen` columns, else of those that fit.
    init(_ console: Console, columns chosen: [AccountColumn]?, asTabs: Bool, withTokens: Bool) {
        self.console = console
        let form = asTabs ? .tabs : TableForm(on: console)
        if case .fitted = form {
            columns = chosen ?? AccountColumn.shown
        } else {
            columns = chosen ?? AccountColumn.piped
        }
        table = Table(
            columns.map(\.column),
            details: withTokens ? Self.tokenColumns : [],
            as: form,
            showsAll: chosen != nil,
            on: console
        )
    }

    mutating func add(_ summary: AccountSummary) throws {
        count += 1
        let cells = columns.map { $0.cell(summary, on: console) }
        try table.add(cells, isMarked: summary.isDefault)
        for token in summary.accessTokens {
            try table.addDetail([
                TableCell(token.clientID, short: console.short(token.clientID.shortGUID)),
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
}

/// What a list can say of an account, in order of worth.
enum AccountColumn: String, CaseIterable {
    case username
    case policy
    case expires
    case tokens
    case renews
    case used
    case issuer
    case tenant
    case clients
    case isDefault = "default"
    case id
    case name
    case valid
    case expired

    /// What a terminal shows as far as it fits; a star takes the place of one column.
    static let shown = Array(allCases.prefix(9))

    /// What a pipe gets.
    static let piped = Array(allCases.prefix(10))

    /// The names, as an option takes them.
    static let names = allCases.dropFirst().reduce(into: allCases[0].rawValue) { $0 += ", \($1.rawValue)" }

    fileprivate var column: TableColumn {
        var column = TableColumn(heading: rawValue.uppercased())
        switch self {
        case .issuer: column.sharedAs = "at"
        case .tenant: column.sharedAs = "tenant"
        case .clients: column.sharedAs = "client"
        case .valid, .expired: column.isNumber = true
        default: break
        }
        return column
    }

    fileprivate func cell(_ summary: AccountSummary, on console: Console) -> TableCell {
        let account = summary.account
        let valid = summary.validCount + summary.agingCount
        switch self {
        case .username: return TableCell(account.username, style: summary.isDefault ? .bold : nil)
        case .policy: return TableCell(account.userFlow)
        case .expires: return TableCell(console.time(summary.nextExpiry))
        case .tokens: return Self.tokens(valid, summary.expiredCount)
        case .renews:
            return TableCell(summary.hasRefreshToken ? "yes" : "no", style: summary.hasRefreshToken ? .green : .red)
        case .used: return TableCell(console.time(summary.lastUsed))
        case .issuer:
            // Microsoft's issuers are an environment and a tenant, which has a column.
            let (issuer, environment) = (account.issuer, account.environment)
            return TableCell(
                issuer ?? environment,
                short: console.short((account.id.hasIssuer ? issuer ?? environment : environment).shortAddress)
            )
        case .tenant: return TableCell(summary.tenantID, short: console.short(summary.tenantID?.shortGUID))
        case .clients:
            let clients = summary.clientIDs
            return TableCell(
                clients.joined(separator: ","),
                short: console.short(clients.map(\.shortGUID).joined(separator: ","))
            )
        case .isDefault: return TableCell(summary.isDefault ? "*" : nil)
        case .id: return TableCell(account.id.homeAccountID)
        case .name: return TableCell(account.name)
        case .valid: return TableCell(String(valid))
        case .expired: return TableCell(String(summary.expiredCount))
        }
    }

    /// How many access tokens are good, and how many have ended: `1, 2 expired`.
    private static func tokens(_ valid: Int, _ expired: Int) -> TableCell {
        let counts = [valid > 0 ? "\(valid)" : nil, expired > 0 ? "\(expired) expired" : nil].compactMap(\.self)
        return TableCell(counts.joined(separator: ", "), style: valid == 0 ? .yellow : nil)
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
