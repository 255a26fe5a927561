import Database
import OAuth
import SQL
import Sealing

extension StoreConnection {
    /// Calls `body` with the row of each account that `policy` leaves, until it returns false.
    ///
    /// Of the alternatives the first one that matches anything counts. What `body` will ask a server about each account
    /// can be asked ahead, for many accounts in one round trip.
    func forEachAccountRow(
        matching policy: AccountPolicy,
        sortedBy order: AccountOrder,
        limit: Int? = nil,
        askingAhead ask: (Int64) throws -> Void = { _ in },
        _ body: (Int64) throws -> Bool
    ) throws {
        let limit = limit.map { max(0, $0) }
        for alternative in policy.alternatives {
            var found = 0
            try forEachRow(of: alternative, sortedBy: order, limit: limit ?? .max, askingAhead: ask) { row in
                if let limit, found >= limit { return false }
                found += 1
                return try body(row)
            }
            if found > 0 { return }
        }
    }

    /// Calls `body` with what `read` makes of the row of each account that `policy` leaves.
    func forEachAccountRow<Read: Sendable>(
        matching policy: AccountPolicy,
        sortedBy order: AccountOrder,
        limit: Int? = nil,
        askingAhead ask: (Int64) throws -> Void,
        reading read: @escaping @Sendable (StoreConnection, Int64) throws -> Read,
        _ body: (Read) throws -> Void
    ) throws {
        func pass(_ row: Int64, _ value: Read) throws -> Bool {
            try body(value)
            return true
        }
        try inBlocks(reading: read, pass) { visit in
            try forEachAccountRow(matching: policy, sortedBy: order, limit: limit, askingAhead: ask, visit)
        }
    }

    /// Calls `body` with each row that `find` visits and with what `read` makes of it; of a file block by block.
    private func inBlocks<Read: Sendable>(
        reading read: @escaping @Sendable (StoreConnection, Int64) throws -> Read,
        _ body: (Int64, Read) throws -> Bool,
        _ find: ((Int64) throws -> Bool) throws -> Void
    ) throws {
        try withoutActuallyEscaping(body) { body in
            // A server has been asked for them in this order.
            guard !connection.isServer else { return try find { try body($0, read(self, $0)) } }
            var block = RowBlock(reading: read)
            do {
                try find { try block.add($0, by: self, body) }
            } catch {
                // Those that were found before still count.
                try block.finish(by: self, body)
                throw error
            }
            try block.finish(by: self, body)
        }
    }

    /// The rows of the accounts that `policy` leaves.
    func accountRows(matching policy: AccountPolicy, limit: Int? = nil) throws -> [Int64] {
        var rows: [Int64] = []
        try forEachAccountRow(matching: policy, sortedBy: .username, limit: limit) {
            rows.append($0)
            return true
        }
        return rows
    }

    /// The rows of the accounts that `policy` leaves, and the alternative of it that left them.
    func found(_ policy: AccountPolicy) throws -> (rows: [Int64], alternative: AccountPolicy.Alternative) {
        for alternative in policy.alternatives {
            let rows = try accountRows(matching: AccountPolicy(alternatives: [alternative]))
            if !rows.isEmpty { return (rows, alternative) }
        }
        return ([], AccountPolicy.Alternative())
    }

    /// Those of `rows` that an alternative leaves still, and which nobody on the server changes until this transaction
    /// ends.
    ///
    /// Another node may have signed in to one since it was found.
    func locked(_ rows: [Int64], meeting alternative: AccountPolicy.Alternative) throws -> [Int64] {
        for row in rows { try connection.run(Self.rowLock, [.integer(row)]) }
        guard alternative.prefersDefault || alternative.prefersMostRecent else {
            return try self.rows(rows, meeting: alternative)
        }
        let left = try accountRows(matching: AccountPolicy(alternatives: [alternative]))
        return rows.filter(left.contains)
    }

    private static let rowLock = SQL("SELECT id FROM account WHERE id = ?1 FOR NO KEY UPDATE")

    /// The accounts that `policy` leaves, by username.
    func accounts(matching policy: AccountPolicy) throws -> [Account] {
        var accounts: [Account] = []
        let read: @Sendable (StoreConnection, Int64) throws -> Account? = { try $0.account($1) }
        try forEachAccountRow(
            matching: policy,
            sortedBy: .username,
            askingAhead: askAheadForAccount,
            reading: read
        ) { account in
            if let account { accounts.append(account) }
        }
        return accounts
    }

    /// How many accounts `policy` leaves.
    func accountCount(matching policy: AccountPolicy) throws -> Int {
        for alternative in policy.alternatives {
            let count = try count(of: alternative)
            if count > 0 { return count }
        }
        return 0
    }

    private func count(of alternative: AccountPolicy.Alternative) throws -> Int {
        let query = try query(alternative)
        guard query.isDecisive, !alternative.prefersDefault, !alternative.prefersMostRecent else {
            return try accountRows(matching: AccountPolicy(alternatives: [alternative])).count
        }
        let statement = try connection.prepare("SELECT count(*) FROM account a WHERE \(query.condition)")
        return Int(try statement.first(query.values) { $0.integer(0) } ?? 0)
    }

    /// The accounts that are signed in to a client (MSAL's `returnOnlySignedInAccounts`).
    func signedInRows(client: String) throws -> [Int64] {
        try connection.all(Self.signedIn, .text(client.folded)) { $0.integer(0) }
    }

    private static let signedIn = SQL { dialect in
        """
        SELECT a.id FROM account a
        LEFT JOIN account_state s ON s.account_id = a.id AND s.client_fold = ?1
        WHERE coalesce(s.state, '') <> 'signed_out' AND (s.state = 'signed_in' OR EXISTS (
            SELECT 1 FROM refresh_token r WHERE r.account_id = a.id AND (r.client_fold = ?1 OR r.family_id IN
                (SELECT m.family_id FROM app_metadata m WHERE m.client_fold = ?1))
                AND lower(r.credential_type) NOT IN (\(foreignTypes.map { "'\($0)'" }.joined(separator: ", ")))
                AND NOT EXISTS (SELECT 1 FROM refresh_attempt t WHERE \(dialect.attempt("t", of: "r"))
                    AND t.generation = r.generation AND t.outcome IS NOT NULL)))
        ORDER BY a.username_fold, a.id
        """
    }

    private func forEachRow(
        of alternative: AccountPolicy.Alternative,
        sortedBy order: AccountOrder,
        limit: Int,
        askingAhead ask: (Int64) throws -> Void,
        _ body: (Int64) throws -> Bool
    ) throws {
        if alternative.prefersDefault, let row = try defaultAccountRow(), try matches(row, alternative) {
            _ = try body(row)
            return
        }
        let query = try query(alternative)
        let sorting = alternative.prefersMostRecent ? "a.last_used_at DESC, a.id DESC" : order.sql(now: now)
        let statement = try connection.prepare(
            "SELECT a.id FROM account a WHERE \(query.condition) ORDER BY \(sorting)"
        )
        func visit(_ id: Int64, _ isMeant: Bool) throws -> Bool {
            guard isMeant else { return true }
            return try body(id) && !alternative.prefersMostRecent
        }
        if connection.isServer {
            let wanted = alternative.prefersMostRecent ? 1 : limit
            return try forEachPage(of: statement, query, wanted: wanted, askingAhead: ask) { id in
                try visit(id, meets(query, account: id))
            }
        }
        guard query.opensTokens, limit == .max, !alternative.prefersMostRecent else {
            return try statement.forEach(query.values) { row in
                try visit(row.integer(0), meets(query, account: row.integer(0)))
            }
        }
        let read: @Sendable (StoreConnection, Int64) throws -> Bool = { try $0.meets(query, account: $1) }
        try inBlocks(reading: read, visit) { visit in
            try statement.forEach(query.values) { try visit($0.integer(0)) }
        }
    }

    /// Whether an account that the statement of a query found has what only its own rows tell.
    private func meets(_ query: AccountQuery, account: Int64) throws -> Bool {
        // An index finds rows, and does not decide: it is not sealed.
        guard try rowsMeet(query.inRows, account: account) else {
            throw TokenStoreError.damaged(
                "an index of \(location) names an account that is not the one it was asked for",
                .repair
            )
        }
        guard try query.opened.allSatisfy({ try hasClaim($0, account: account) }) else { return false }
        guard try query.tags.allSatisfy({ try hasTag($0, account: account) }) else {
            throw TokenStoreError.damaged(
                "the index of tags of \(location) names an account that lacks the tag",
                .repair
            )
        }
        guard try query.indexed.allSatisfy({ try hasClaim($0, account: account) }) else {
            throw TokenStoreError.damaged(
                "the claim index of \(location) names an account that lacks the claim",
                .repair
            )
        }
        return true
    }

    /// Visits the accounts that a server finds, page by page; the next page is under way meanwhile.
    private func forEachPage(
        of statement: Statement,
        _ query: AccountQuery,
        wanted: Int,
        askingAhead ask: (Int64) throws -> Void,
        _ visit: (Int64) throws -> Bool
    ) throws {
        var left = wanted
        try statement.forEachPage(ofNumbers: query.values) { ids in
            for id in ids.prefix(left) {
                if query.opensTokens { try askAheadForIDTokens(id) }
                try ask(id)
            }
            left -= min(left, ids.count)
            for id in ids where try !visit(id) { return false }
            return true
        }
    }

    /// Whether an account meets all criteria of an alternative.
    func matches(_ account: Int64, _ alternative: AccountPolicy.Alternative) throws -> Bool {
        try !rows([account], meeting: alternative).isEmpty
    }

    /// Those of `rows`, at most some hundred, that meet all criteria of an alternative.
    private func rows(_ rows: [Int64], meeting alternative: AccountPolicy.Alternative) throws -> [Int64] {
        let query = try query(alternative)
        let places = rows.indices.map { "?\(query.values.count + 1 + $0)" }.joined(separator: ", ")
        let statement = try connection.prepare(
            "SELECT a.id FROM account a WHERE \(query.condition) AND a.id IN (\(places))"
        )
        let found = Set(try statement.all(query.values + rows.map(Value.integer)) { $0.integer(0) })
        if query.opensTokens { for row in found { try askAheadForIDTokens(row) } }
        return try rows.filter { try found.contains($0) && meets(query, account: $0) }
    }

    /// The SQL of an alternative; the key is needed only where it asks for claims.
    private func query(_ alternative: AccountPolicy.Alternative) throws -> AccountQuery {
        AccountQuery(
            alternative,
            sealers: try alternative.needsKey ? currentKeys().all : [],
            now: now,
            dialect: connection.dialect
        )
    }

    private func hasClaim(_ criterion: ClaimCriterion, account: Int64) throws -> Bool {
        try idTokens(account).contains { criterion.matches($0.idToken.claims) }
    }
}

extension AccountOrder {
    fileprivate func sql(now: Int64) -> String {
        switch self {
        case .username: "a.username_fold, a.account_key, a.authority"
        case .used: "a.last_used_at DESC, a.id DESC"
        case .expires:
            """
            (SELECT min(t.expires_on) FROM access_token t WHERE t.account_id = a.id AND t.expires_on > \(now))
                NULLS LAST, a.username_fold, a.id
            """
        }
    }
}

extension AccountPolicy.Alternative {
    /// Whether claims or tags are asked for: the blind index and what is sealed need the key.
    var needsKey: Bool {
        criteria.contains { criterion in
            switch criterion {
            case .claim, .tag: true
            default: false
            }
        }
    }
}
