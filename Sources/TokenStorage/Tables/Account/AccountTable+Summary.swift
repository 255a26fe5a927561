import Database
import OAuth
import SQL

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What lists, exports and purges ask about accounts and about the tokens that they have.

extension StoreConnection {
    private static let summaryRow = SQL(
        accountWithProfiles(
            and: """
                (SELECT max(CASE s.state WHEN 'signed_in' THEN 2 WHEN 'unknown' THEN 1 ELSE 0 END)
                    FROM account_state s WHERE s.account_id = t.id),
                EXISTS (SELECT 1 FROM default_account d WHERE d.account_id = t.id)
                """
        )
    )

    /// Asks a server what ``summary(_:withTokens:)`` will ask.
    func askAheadForSummary(_ row: Int64, withTokens: Bool) throws {
        try connection.askAhead(Self.summaryRow, .integer(row))
        if withTokens { try askAheadForTokenSummaries(row) }
        try connection.askAhead(Self.holdings, .integer(row))
    }

    func summary(_ row: Int64, withTokens: Bool) throws -> AccountSummary? {
        let further = Self.endOfAccountWithProfiles
        var (state, isDefault, lastUsed): (Int64?, Bool, Date) = (nil, false, .distantPast)
        let account = try account(row, by: Self.summaryRow) { row in
            state = row.optionalInteger(further)
            isDefault = try row.bool(further + 1) && defaultAccountRow() != nil
            lastUsed = row.date(SealedTable.account["last_used_at"])
        }
        guard let account else { return nil }
        let tokens = try withTokens ? tokenSummaries(row) : []
        let holdings = try holdings(row)
        return AccountSummary(
            account: account,
            isDefault: isDefault,
            clientIDs: holdings.clientIDs,
            signInState: SignInState(ofClients: state, hasRefreshToken: holdings.hasRefreshToken),
            hasRefreshToken: holdings.hasRefreshToken,
            validCount: holdings.validCount,
            agingCount: holdings.agingCount,
            expiredCount: holdings.expiredCount,
            nextExpiry: holdings.nextExpiry.map { Date(unixSeconds: $0) },
            lastUsed: lastUsed,
            accessTokens: tokens
        )
    }

    func clientIDs(_ account: Int64) throws -> [String] { try holdings(account).clientIDs }

    /// Of a file from indexes alone but for the refresh tokens, whose rows a list reads anyway; of a server with all
    /// that would be asked next.
    ///
    /// The last column is the row of a refresh token with further members, which may say that it is not the session.
    private static let holdings = SQL { dialect in
        let client = dialect == .sqlite ? "NULL" : "client_id"
        return """
            SELECT r.client_fold, r.client_id, NULL, NULL, NULL,
                lower(r.credential_type) NOT IN (\(foreignTypes.map { "'\($0)'" }.joined(separator: ", ")))
                    AND NOT EXISTS (SELECT 1 FROM refresh_attempt x WHERE \(dialect.attempt("x", of: "r"))
                    AND x.generation = r.generation AND x.outcome IS NOT NULL),
                CASE WHEN r.extra IS NULL THEN NULL ELSE r.id END
                FROM refresh_token r WHERE r.account_id = ?1
            UNION ALL SELECT client_fold, \(client), expires_on, cached_at, refresh_on, NULL, NULL FROM access_token
                WHERE account_id = ?1
            UNION ALL SELECT client_fold, \(client), NULL, NULL, NULL, NULL, NULL FROM id_token WHERE account_id = ?1
            """
    }

    private func holdings(_ account: Int64) throws -> Holdings {
        var holdings = Holdings()
        var sealed: [Int64] = []
        try connection.forEach(Self.holdings, .integer(account)) { row in
            holdings.addClient(fold: row.text(0), id: row.optionalText(1))
            if !row.isNull(5), row.bool(5) {
                if let id = row.optionalInteger(6) { sealed.append(id) } else { holdings.hasRefreshToken = true }
            }
            guard let expiresOn = row.optionalInteger(2) else { return }
            let (cachedAt, refreshOn) = (row.optionalInteger(3), row.optionalInteger(4))
            holdings.addAccessToken(
                TokenState(expiresOn: expiresOn, cachedAt: cachedAt, refreshOn: refreshOn, at: now),
                expiresOn: expiresOn
            )
        }
        if !holdings.hasRefreshToken {
            holdings.hasRefreshToken = try sealed.contains { try isOrdinaryRefreshToken($0, account: account) }
        }
        for fold in holdings.clientsWithoutID {
            holdings.addClient(fold: fold, id: try clientID(fold, ofTokensOf: account))
        }
        return holdings
    }

    /// How the ID tokens and access tokens of an account spell a client's id.
    private func clientID(_ fold: String, ofTokensOf account: Int64) throws -> String {
        try connection.first(
            """
            SELECT min(client_id) FROM (
                SELECT client_id FROM id_token WHERE account_id = ?1 AND client_fold = ?2
                UNION ALL SELECT client_id FROM access_token WHERE account_id = ?1 AND client_fold = ?2) AS spelling
            """,
            .integer(account),
            .text(fold)
        ) { $0.text(0) } ?? fold
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
}

extension SignInState {
    /// The state at the client where it is best: 2 signed in, 1 unknown, 0 signed out; nil where no client has one.
    fileprivate init(ofClients best: Int64?, hasRefreshToken: Bool) {
        self =
            switch best {
            case nil: hasRefreshToken ? .signedIn : .unknown
            case 2: .signedIn
            case 1: hasRefreshToken ? .signedIn : .signedOut
            default: .signedOut
            }
    }
}

/// The clients of an account, and how many of its access tokens are in which state.
private struct Holdings {
    /// In the order of their folded ids; of several spellings of an id the least one.
    private var clients: [(fold: String, id: String?)] = []
    /// Whether one of its refresh tokens may still be used.
    var hasRefreshToken = false
    private(set) var validCount = 0
    private(set) var agingCount = 0
    private(set) var expiredCount = 0

    /// When the next access token ends that is good now, in seconds since 1970.
    private(set) var nextExpiry: Int64?

    var clientIDs: [String] { clients.map { $0.id ?? $0.fold } }

    /// The folded ids of the clients whose id no token has told yet.
    var clientsWithoutID: [String] { clients.filter { $0.id == nil }.map(\.fold) }

    mutating func addClient(fold: String, id: String?) {
        var (place, end) = (0, clients.count)
        while place < end {
            let middle = (place + end) / 2
            let isBefore = clients[middle].fold.utf8.lexicographicallyPrecedes(fold.utf8)
            if isBefore { place = middle + 1 } else { end = middle }
        }
        guard place < clients.count, clients[place].fold.utf8.elementsEqual(fold.utf8) else {
            return clients.insert((fold, id), at: place)
        }
        if let id, clients[place].id.map({ id.utf8.lexicographicallyPrecedes($0.utf8) }) ?? true {
            clients[place].id = id
        }
    }

    mutating func addAccessToken(_ state: TokenState, expiresOn: Int64) {
        switch state {
        case .valid: validCount += 1
        case .aging: agingCount += 1
        case .expired:
            expiredCount += 1
            return
        }
        nextExpiry = min(nextExpiry ?? expiresOn, expiresOn)
    }
}

// MARK: - Purges

extension StoreConnection {
    /// The owner of a server's entries about accounts that are not there, or not any more.
    ///
    /// Not 0, as that of what is about no account: a question about moves would read the entries of all who ever left.
    static let goneOwner: Int64 = -1

    /// The owner of a new entry about an account that is not there.
    var absentOwner: Int64? { connection.isServer ? Self.goneOwner : nil }

    private static let eventsWithoutAccount = SQL { _ in
        """
        INSERT INTO event (account_id, id, tx, at, program, process_id, kind, outcome, account_mark, client_id,
            fingerprint, mac)
        SELECT \(goneOwner), id, tx, at, program, process_id, kind, outcome, account_mark, client_id, fingerprint, mac
        FROM event WHERE account_id = ?1
        """
    }

    /// Deletes the tokens and keys of an account, and what a server keeps of it without a reference to it: the record of
    /// use goes on with the account's mark alone.
    private func deleteOnServer(_ row: Int64) throws {
        try connection.run("DELETE FROM access_token WHERE account_id = ?1", .integer(row))
        // These have a reference; an administrator may have switched off the triggers that act on it.
        try connection.run("DELETE FROM refresh_token WHERE account_id = ?1", .integer(row))
        try connection.run("DELETE FROM id_token WHERE account_id = ?1", .integer(row))
        try connection.run("DELETE FROM dpop_key WHERE account_id = ?1", .integer(row))
        try connection.run(Self.eventsWithoutAccount, [.integer(row)])
        try connection.run("DELETE FROM event WHERE account_id = ?1", .integer(row))
        witness.events = witness.events.map { $0.owner == row ? ($0.id, Self.goneOwner) : $0 }
    }

    /// Deletes an account; every other row of it goes too.
    func deleteAccount(_ row: Int64) throws {
        if connection.isServer {
            try deleteOnServer(row)
            (lockedRows, bareAccount) = ([:], nil)
        }
        try connection.run("DELETE FROM account WHERE id = ?1", .integer(row))
    }

    private static let accountName = SQL(
        "SELECT username, home_account_id, coalesce(policy, '') FROM account WHERE id = ?1"
    )

    /// What people call each of the accounts that are there.
    func accountNames(_ rows: [Int64]) throws -> [String] {
        for row in rows { try connection.askAhead(Self.accountName, .integer(row)) }
        return try rows.flatMap { row in
            try connection.all(Self.accountName, .integer(row)) { PurgeCounts.name($0.text(0), $0.text(1), $0.text(2)) }
        }
    }

    private static let tokenCounts = SQL(
        """
        SELECT (SELECT count(*) FROM access_token WHERE account_id = ?1),
            (SELECT count(*) FROM refresh_token WHERE account_id = ?1),
            (SELECT count(*) FROM id_token WHERE account_id = ?1)
        """
    )

    /// Asks a server what ``count(_:in:)`` will ask.
    func askAheadForCount(_ account: Int64) throws { try connection.askAhead(Self.tokenCounts, .integer(account)) }

    /// Adds an account with its tokens to what a purge deletes.
    func count(_ account: Int64, in counts: inout PurgeCounts) throws {
        counts.accounts += 1
        if counts.accounts <= PurgeCounts.namedAccounts { counts.accountNames += try accountNames([account]) }
        try connection.forEach(Self.tokenCounts, .integer(account)) { row in
            counts.accessTokens += Int(count: row.integer(0))
            counts.refreshTokens += Int(count: row.integer(1))
            counts.idTokens += Int(count: row.integer(2))
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
            accounts = Int(count: row.integer(0))
            accessTokens = Int(count: row.integer(1))
            refreshTokens = Int(count: row.integer(2))
            idTokens = Int(count: row.integer(3))
        }
        accountNames = try connection.accountNames(limit: Self.namedAccounts)
    }
}
