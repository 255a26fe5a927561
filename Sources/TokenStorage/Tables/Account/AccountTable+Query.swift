import OAuth
import SQL
import SQLite
import Sealing

/// SQL that finds the accounts of one alternative of a policy, as far as the clear columns and the blind index tell.
private struct AccountQuery {
    private(set) var condition: String
    private(set) var values: [Value] = []

    /// Criteria that only opened ID tokens can answer.
    let opened: [ClaimCriterion]

    /// Criteria that the index has answered.
    let indexed: [ClaimCriterion]

    /// The same for tags.
    let tags: [TagCriterion]

    /// A claim may be indexed under any of `sealers`, the live data keys.
    init(_ alternative: AccountPolicy.Alternative, sealers: [Sealer], now: Int64) {
        var query = SQLFragments()
        var opened: [ClaimCriterion] = []
        var indexed: [ClaimCriterion] = []
        var tags: [TagCriterion] = []
        for criterion in alternative.criteria {
            if case .claim(let claim) = criterion, !claim.isIndexed {
                opened.append(claim)
            } else {
                if case .claim(let claim) = criterion { indexed.append(claim) }
                if case .tag(let tag) = criterion { tags.append(tag) }
                query.add(criterion, sealers, now: now)
            }
        }
        condition = query.conditions.isEmpty ? "1" : query.conditions.joined(separator: " AND ")
        values = query.values
        self.opened = opened
        self.indexed = indexed
        self.tags = tags
    }
}

/// Conditions on a row `a` of `account`, and the values they name.
private struct SQLFragments {
    var conditions: [String] = []
    var values: [Value] = []

    /// Binds a value and returns its place in the statement.
    private mutating func bind(_ value: Value) -> String {
        values.append(value)
        return "?\(values.count)"
    }

    /// Whether the key of an account begins with a folded id, behind which its exact form may stand.
    private mutating func homeAccount(_ column: String, is id: String) -> String {
        let (place, start) = (bind(.text(id)), bind(.text(id + Account.ID.separator)))
        let end = bind(.text(id + Account.ID.separator + "\u{10FFFF}"))
        return "(\(column) = \(place) OR \(column) >= \(start) AND \(column) < \(end))"
    }

    mutating func add(_ criterion: AccountCriterion, _ sealers: [Sealer], now: Int64) {
        switch criterion {
        case .identifier(let text):
            let place = bind(.text(text))
            conditions.append(
                """
                a.id IN (SELECT id FROM account WHERE \(homeAccount("account_key", is: text))
                    UNION SELECT id FROM account WHERE username_fold = \(place) AND username_fold <> ''
                    UNION SELECT account_id FROM tenant_profile WHERE local_account_fold = \(place))
                """
            )
        case .exactly(let id, _):
            let places = Account.ID.keys(of: id).map { bind(.text($0)) }.joined(separator: ", ")
            conditions.append("a.account_key IN (\(places)) AND a.home_account_id = \(bind(.text(id)))")
        case .identifierPrefix(let text):
            let start = bind(.text(text))
            // The greatest Unicode scalar sorts after every text that goes on from the prefix.
            let end = bind(.text(text + "\u{10FFFF}"))
            conditions.append("a.account_key >= \(start) AND a.account_key < \(end)")
        case .username(let name): conditions.append("a.username_fold = \(bind(.text(name)))")
        case .homeAccountID(let id): conditions.append(homeAccount("a.account_key", is: id))
        case .localAccountID(let id):
            conditions.append(
                "a.id IN (SELECT account_id FROM tenant_profile WHERE local_account_fold = \(bind(.text(id))))"
            )
        case .userFlow(let name): conditions.append("a.policy = \(bind(.text(name)))")
        case .tenant(let tenant):
            conditions.append(
                "a.id IN (SELECT account_id FROM tenant_profile WHERE realm_fold = \(bind(.text(tenant))))"
            )
        case .issuer(let issuer): addIssuer(issuer)
        case .client(let client): addClient(client)
        case .unusedSince(let seconds): conditions.append("a.last_used_at < \(bind(.integer(seconds)))")
        case .expired: addExpired(now: now)
        case .claim(let claim): add(claim, sealers)
        case .tag(let tag): add(tag, sealers)
        }
    }

    private mutating func addExpired(now: Int64) {
        conditions.append(
            """
            EXISTS (SELECT 1 FROM access_token t WHERE t.account_id = a.id)
            AND NOT EXISTS
                (SELECT 1 FROM access_token t WHERE t.account_id = a.id AND t.expires_on > \(bind(.integer(now))))
            """
        )
    }

    private mutating func addIssuer(_ issuer: String) {
        let exact = bind(.text(issuer))
        let host = bind(.text(issuer.folded))
        let group = bind(.text(Cloud.group(of: issuer)))
        conditions.append(
            "(a.issuer = \(exact) OR a.authority IN (\(exact), \(group)) OR lower(a.environment) = \(host))"
        )
    }

    private mutating func addClient(_ client: String) {
        let place = bind(.text(client))
        let tables = ["access_token", "refresh_token", "id_token"].map {
            "EXISTS (SELECT 1 FROM \($0) t WHERE t.account_id = a.id AND t.client_fold = \(place))"
        }
        conditions.append("(" + tables.joined(separator: " OR ") + ")")
    }

    private mutating func add(_ tag: TagCriterion, _ sealers: [Sealer]) {
        let matches = sealers.map { sealer in
            let name = "t.name_hash = \(bind(.blob(tag.nameHash(sealer))))"
            guard let value = tag.value else { return "(\(name))" }
            let hash = TagCriterion.valueHash(name: tag.name, value: value, sealer)
            return "(\(name) AND t.value_hash = \(bind(.blob(hash))))"
        }
        let condition = matches.isEmpty ? "0" : matches.joined(separator: " OR ")
        conditions.append("a.id IN (SELECT t.account_id FROM account_tag t WHERE \(condition))")
    }

    private mutating func add(_ claim: ClaimCriterion, _ sealers: [Sealer]) {
        let matches = sealers.map { sealer in
            let index = ClaimIndex(sealer)
            let name = "c.name_hash = \(bind(.blob(index.name(claim.name))))"
            guard case .equals(let path, let value) = claim else { return name }
            return name + " AND c.value_hash = \(bind(.blob(index.value(path, value))))"
        }
        conditions.append(
            """
            a.id IN (SELECT t.account_id FROM claim_index c JOIN id_token t ON t.id = c.id_token_id
                WHERE \(matches.isEmpty ? "0" : matches.map { "(\($0))" }.joined(separator: " OR ")))
            """
        )
    }
}

extension StoreConnection {
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

    /// The accounts that are signed in to a client (MSAL's `returnOnlySignedInAccounts`).
    func signedInRows(client: String) throws -> [Int64] {
        try connection.all(
            """
            SELECT a.id FROM account a
            LEFT JOIN account_state s ON s.account_id = a.id AND s.client_fold = ?1
            WHERE coalesce(s.state, '') <> 'signed_out' AND (s.state = 'signed_in' OR EXISTS (
                SELECT 1 FROM refresh_token r WHERE r.account_id = a.id AND (r.client_fold = ?1 OR r.family_id IN
                    (SELECT m.family_id FROM app_metadata m WHERE m.client_fold = ?1))
                    AND NOT EXISTS (SELECT 1 FROM refresh_attempt t WHERE t.id = r.id
                        AND t.generation = r.generation AND t.outcome IS NOT NULL)))
            ORDER BY a.username_fold, a.id
            """,
            .text(client.folded)
        ) { $0.integer(0) }
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
            guard try query.tags.allSatisfy({ try hasTag($0, account: id) }) else {
                throw TokenStoreError.damaged(
                    "the index of tags of \(path.database) names an account that lacks the tag",
                    .repair
                )
            }
            guard try query.indexed.allSatisfy({ try hasClaim($0, account: id) }) else {
                throw TokenStoreError.damaged(
                    "the claim index of \(path.database) names an account that lacks the claim",
                    .repair
                )
            }
            return try body(id) && !alternative.prefersMostRecent
        }
    }

    /// Whether an account meets all criteria of an alternative.
    func matches(_ account: Int64, _ alternative: AccountPolicy.Alternative) throws -> Bool {
        let query = try query(alternative)
        let statement = try connection.prepare(
            "SELECT 1 FROM account a WHERE \(query.condition) AND a.id = ?\(query.values.count + 1)"
        )
        let isFound = try statement.first(query.values + [.integer(account)]) { _ in true } ?? false
        return try isFound && query.opened.allSatisfy { try hasClaim($0, account: account) }
    }

    /// The SQL of an alternative; the key is needed only where it asks for claims.
    private func query(_ alternative: AccountPolicy.Alternative) throws -> AccountQuery {
        AccountQuery(alternative, sealers: try alternative.needsKey ? currentKeys().all : [], now: now)
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
