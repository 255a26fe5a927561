public import OAuth
import SQLite

extension TokenStore {
    /// Calls `body` with a summary of each account that `policy` leaves; memory does not grow with their number.
    ///
    /// All of it is read from one moment, while others may write.
    public func forEachAccount(
        matching policy: AccountPolicy = .all,
        sortedBy order: AccountOrder = .username,
        limit: Int? = nil,
        withTokens: Bool = false,
        _ body: (AccountSummary) throws -> Void
    ) throws {
        try read { session in
            try session.connection.read {
                var count = 0
                try session.forEachAccountRow(matching: policy, sortedBy: order, limit: limit) { row in
                    guard let summary = try session.summary(row, withTokens: withTokens) else { return true }
                    count += 1
                    try body(summary)
                    return true
                }
                if count == 0 { try session.requireSoundness() }
            }
        }
    }
}

extension StoreConnection {
    /// Makes sure that "no account" is not the sight of a damaged file.
    func requireSoundness() throws {
        let isVacant = try connection.integer("SELECT max(id) FROM account") == 0
        // Lists and counts come from an index, which may be damaged where the table is not.
        let listed = try connection.integer(
            "SELECT EXISTS (SELECT 1 FROM account INDEXED BY account_username WHERE username_fold >= '')"
        )
        guard isVacant || listed == 0 else { return }
        guard let problem = try connection.integrityProblems(quick: isVacant).first else { return }
        throw TokenStoreError.damaged(
            "\(path.database) is damaged (\(problem)); run 'tokenstore check --repair' to salvage it"
        )
    }

    /// What was found, which is nothing only in a sound file.
    func sound<Found>(_ found: [Found]) throws -> [Found] {
        if found.isEmpty { try requireSoundness() }
        return found
    }

    private static let summaryRow = SQL(
        SealedTable.account.selection(
            with: """
                EXISTS (SELECT 1 FROM refresh_token r WHERE r.account_id = t.id
                    AND NOT EXISTS (SELECT 1 FROM refresh_attempt x WHERE x.id = r.id
                        AND x.generation = r.generation AND x.outcome IS NOT NULL)),
                (SELECT max(CASE s.state WHEN 'signed_in' THEN 2 WHEN 'unknown' THEN 1 ELSE 0 END)
                    FROM account_state s WHERE s.account_id = t.id)
                """
        ) + "WHERE t.id = ?1"
    )

    fileprivate func summary(_ row: Int64, withTokens: Bool) throws -> AccountSummary? {
        let profiles = try tenantProfiles(row)
        let tokens = try withTokens ? tokenSummaries(row) : []
        let counts = try tokenCounts(row)
        let clients = try clientIDs(row)
        let end = SealedTable.account.end
        return try connection.first(Self.summaryRow, .integer(row)) { row in
            let hasRefreshToken = row.bool(end)
            let state: SignInState =
                switch row.optionalInteger(end + 1) {
                case nil: hasRefreshToken ? .signedIn : .unknown
                case 2: .signedIn
                case 1: hasRefreshToken ? .signedIn : .signedOut
                default: .signedOut
                }
            return AccountSummary(
                account: try account(row, profiles: profiles),
                clientIDs: clients,
                signInState: state,
                hasRefreshToken: hasRefreshToken,
                validCount: counts.valid,
                agingCount: counts.aging,
                expiredCount: counts.expired,
                nextExpiry: counts.next,
                lastUsed: row.integer(SealedTable.account["last_used_at"]),
                accessTokens: tokens
            )
        }
    }

    func clientIDs(_ account: Int64) throws -> [String] {
        try connection.all(
            """
            SELECT min(client_id) FROM (SELECT client_fold, client_id FROM id_token WHERE account_id = ?1
                UNION ALL SELECT client_fold, client_id FROM refresh_token WHERE account_id = ?1
                UNION ALL SELECT client_fold, client_id FROM access_token WHERE account_id = ?1)
            GROUP BY client_fold ORDER BY client_fold
            """,
            .integer(account)
        ) { $0.text(0) }
    }
}

/// An account with what a list says of it; times are Unix seconds.
public struct AccountSummary: Sendable {
    public let account: Account

    /// The clients that hold a token of the account.
    public let clientIDs: [String]
    public let signInState: SignInState

    /// Whether there is a refresh token that the issuer has not refused for good.
    public let hasRefreshToken: Bool

    /// How many access tokens are in each state.
    public let validCount: Int
    public let agingCount: Int
    public let expiredCount: Int

    public var accessTokenCount: Int { validCount + agingCount + expiredCount }

    /// When the next access token that has not ended will end.
    public let nextExpiry: Int64?

    /// The last sign-in, refresh or import.
    public let lastUsed: Int64

    /// Only where they were asked for.
    public let accessTokens: [AccessTokenSummary]

    /// The tenant the account is at home in, else the first it was seen in.
    public var tenantID: String? {
        account.tenantProfiles.first.map(\.tenantID).flatMap { $0.isEmpty ? nil : $0 } ?? account.utid
    }

    public var localAccountID: String? { account.tenantProfiles.first?.localAccountID }
}

/// An access token without its secret; times are Unix seconds.
public struct AccessTokenSummary: Sendable {
    public let clientID: String
    public let scopes: [String]
    public let tokenType: String
    public let state: TokenState
    public let cachedAt: Int64?
    public let expiresAt: Int64
    public let refreshAt: Int64?
}
