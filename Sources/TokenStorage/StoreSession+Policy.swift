import OAuth
import SQLite

extension StoreSession {
    /// Calls `body` with the row of each account that `policy` leaves, until it returns false.
    ///
    /// Of the alternatives the first one that matches anything counts.
    func forEachAccountRow(
        matching policy: AccountPolicy,
        sortedBy order: AccountOrder,
        limit: Int? = nil,
        _ body: (Int64) throws -> Bool
    ) throws {
        for alternative in policy.alternatives {
            var found = 0
            try forEachRow(of: alternative, sortedBy: order) { row in
                if let limit, found >= limit { return false }
                found += 1
                return try body(row)
            }
            if found > 0 { return }
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

    /// How many accounts `policy` leaves.
    func accountCount(matching policy: AccountPolicy) throws -> Int {
        var count = 0
        try forEachAccountRow(matching: policy, sortedBy: .username) { _ in
            count += 1
            return true
        }
        return count
    }

    private func forEachRow(
        of alternative: AccountPolicy.Alternative,
        sortedBy order: AccountOrder,
        _ body: (Int64) throws -> Bool
    ) throws {
        let query = try query(alternative)
        let sorting = alternative.prefersMostRecent ? "a.last_used_at DESC, a.id DESC" : order.sql(now: now)
        let statement = try connection.prepare(
            "SELECT a.id FROM account a WHERE \(query.condition) ORDER BY \(sorting)"
        )
        try statement.forEach(query.values) { row in
            let id = row.integer(0)
            guard try query.opened.allSatisfy({ try hasClaim($0, account: id) }) else { return true }
            // The index finds rows, and does not decide: it is not sealed.
            guard try query.indexed.allSatisfy({ try hasClaim($0, account: id) }) else {
                throw TokenStoreError.damaged(
                    "the claim index of \(path.database) names an account that lacks the claim; "
                        + "run 'tokenstore check --repair'"
                )
            }
            return try body(id) && !alternative.prefersMostRecent
        }
    }

    /// The SQL of an alternative; the key is needed only where it asks for claims.
    func query(_ alternative: AccountPolicy.Alternative) throws -> AccountQuery {
        AccountQuery(alternative, sealers: try alternative.needsKey ? currentKeys().all : [], now: now)
    }

    private func hasClaim(_ criterion: ClaimCriterion, account: Int64) throws -> Bool {
        try idTokens(account).contains { criterion.matches($0.idToken.claims) }
    }
}

extension AccountPolicy.Alternative {
    /// Whether claims are asked for: the blind index and the ID tokens need the key.
    var needsKey: Bool {
        criteria.contains { if case .claim = $0 { true } else { false } }
    }
}
