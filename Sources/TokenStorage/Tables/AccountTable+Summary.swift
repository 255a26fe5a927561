import OAuth
import SQLite

// What lists, exports and purges ask about accounts and about the tokens that they have.

extension StoreConnection {
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

    func summary(_ row: Int64, withTokens: Bool) throws -> AccountSummary? {
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

    /// Whether any client has a token of an account.
    func hasTokens(_ account: Int64) throws -> Bool {
        try connection.integer(
            """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM access_token WHERE account_id = ?1)
                OR EXISTS (SELECT 1 FROM refresh_token WHERE account_id = ?1)
                OR EXISTS (SELECT 1 FROM id_token WHERE account_id = ?1)
            """,
            .integer(account)
        ) != nil
    }

    /// The greatest id of a row; nil where there is none.
    func newestAccountRow() throws -> Int64? { try connection.integer("SELECT max(id) FROM account") }

    /// Whether the index that lists and counts come from names an account; it may be damaged where the table is not.
    func listsAccounts() throws -> Bool {
        try connection.integer(
            "SELECT EXISTS (SELECT 1 FROM account INDEXED BY account_username WHERE username_fold >= '')"
        ) != 0
    }
}

// MARK: - Purges

extension StoreConnection {
    /// Deletes an account; every other row of it goes too.
    func deleteAccount(_ row: Int64) throws {
        try connection.run("DELETE FROM account WHERE id = ?1", .integer(row))
    }

    /// Adds an account with its tokens to what a purge deletes.
    func count(_ account: Int64, in counts: inout PurgeCounts) throws {
        counts.accounts += 1
        if counts.accounts <= PurgeCounts.namedAccounts {
            counts.accountNames += try connection.all(
                "SELECT username, home_account_id, coalesce(policy, '') FROM account WHERE id = ?1",
                .integer(account)
            ) { PurgeCounts.name($0.text(0), $0.text(1), $0.text(2)) }
        }
        try connection.forEach(
            """
            SELECT (SELECT count(*) FROM access_token WHERE account_id = ?1),
                (SELECT count(*) FROM refresh_token WHERE account_id = ?1),
                (SELECT count(*) FROM id_token WHERE account_id = ?1)
            """,
            .integer(account)
        ) { row in
            counts.accessTokens += Int(row.integer(0))
            counts.refreshTokens += Int(row.integer(1))
            counts.idTokens += Int(row.integer(2))
        }
    }
}

extension PurgeCounts {
    /// How much a store of any version holds.
    init(of connection: Connection) throws {
        self.init()
        try connection.forEach(
            """
            SELECT (SELECT count(*) FROM account), (SELECT count(*) FROM access_token),
                (SELECT count(*) FROM refresh_token), (SELECT count(*) FROM id_token)
            """
        ) { row in
            accounts = Int(row.integer(0))
            accessTokens = Int(row.integer(1))
            refreshTokens = Int(row.integer(2))
            idTokens = Int(row.integer(3))
        }
        accountNames = try connection.all(
            "SELECT username, home_account_id, coalesce(policy, '') FROM account ORDER BY id LIMIT ?1",
            .integer(Int64(Self.namedAccounts))
        ) { Self.name($0.text(0), $0.text(1), $0.text(2)) }
    }
}

// MARK: - Import and export

extension StoreConnection {
    /// The accounts with an id, however it is spelled, in rows after `newest`.
    func accounts(
        called homeAccountID: String,
        after newest: Int64 = 0
    ) throws -> [(row: Int64, id: Account.ID)] {
        let keys = Account.ID.keys(of: homeAccountID)
        return try connection.all(
            "SELECT id, authority, home_account_id FROM account WHERE account_key IN (?1, ?2) AND id > ?3",
            .text(keys[0]),
            .text(keys[1]),
            .integer(newest)
        ) { (row: $0.integer(0), id: Account.ID(issuer: $0.text(1), homeAccountID: $0.text(2))) }
        .filter { $0.id.named(homeAccountID) == $0.id }
    }

    /// Calls `body` with the key and environment of each account whose environment has a port.
    func forEachEnvironmentWithPort(_ body: (_ key: String, _ environment: String) throws -> Void) throws {
        try connection.forEach("SELECT account_key, environment FROM account WHERE environment LIKE '%:%'") {
            try body($0.text(0), $0.text(1))
        }
    }

    func hasAccount(key: String, environment: String) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM account WHERE account_key = ?1 AND environment = ?2",
            .text(key),
            .text(environment)
        ) != nil
    }

    /// The environments at `host`, with a port or without, of the accounts with a folded id.
    func environments(host: String, ofAccount id: String) throws -> [String] {
        let start = id + Account.ID.separator
        return try connection.all(
            """
            SELECT DISTINCT environment FROM account
            WHERE (account_key = ?1 OR account_key >= ?2 AND account_key < ?3)
                AND (environment = ?4 OR substr(environment, 1, length(?4) + 1) = ?4 || ':')
            """,
            .text(id),
            .text(start),
            .text(start + "\u{10FFFF}"),
            .text(host)
        ) { $0.text(0) }
    }
}
