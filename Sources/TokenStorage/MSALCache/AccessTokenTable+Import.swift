import Database
import OAuth
import SQL
import Sealing

extension StoreConnection {
    private static let accessTokenAlike = SQL { dialect in
        SealedTable.accessToken.selection + """
            WHERE \(dialect.owner("t.account_id", is: "?1")) AND t.client_fold = ?2 AND t.realm_fold = ?3
                AND t.token_type_fold = ?4 AND t.key_id = ?5 AND t.variant = ?6 AND t.environment = ?7
                AND lower(t.target) = lower(?8)
            """
    }

    private static let accessTokenOfRow = SQL { dialect in
        SealedTable.accessToken.selection + "WHERE t.id = ?1 AND \(dialect.owner("t.account_id", is: "?2"))"
    }

    private static let identities = SQL { dialect in
        """
        SELECT id, client_fold, realm_fold, token_type_fold, key_id, variant, environment, target FROM access_token
        WHERE \(dialect.owner("account_id", is: "?1")) ORDER BY expires_on, id
        """
    }

    /// Takes in an access token unless the store has the same or a newer one under the same identity.
    ///
    /// - Returns: the row that was written; nil if nothing changed.
    func importAccessToken(_ token: AccessTokenRow, account: Int64?, _ index: inout TokenIndex) throws -> Int64? {
        if index.count(account) {
            try connection.forEach(Self.identities, owner(account)) { row in
                index.add(row.integer(0), of: account, (1...7).map { row.text($0) })
            }
        }
        let known =
            try storedAccessToken(like: token, of: account, variant: token.variant, index)
            ?? (token.variant.isEmpty ? nil : storedAccessToken(like: token, of: account, variant: "", index))
        guard let (id, stored) = known else {
            let id = try writeAccessToken(token, account: account, id: nil)
            index.set(id, of: account, token)
            return id
        }
        var merged = token
        if let stored {
            guard stored.isReplaceable(by: token, now: now) else { return nil }
            merged.extra = stored.extra.merging(token.extra)
            if merged == stored { return nil }
        }
        try writeAccessToken(merged, account: account, id: id)
        index.set(id, of: account, token)
        return id
    }

    /// The row that an imported token is the same as, and what it holds; nil of one that was altered.
    ///
    /// Before this version some partitions were not known, and their rows stand among ordinary ones.
    private func storedAccessToken(
        like token: AccessTokenRow,
        of account: Int64?,
        variant: String,
        _ index: TokenIndex
    ) throws -> (id: Int64, stored: AccessTokenRow?)? {
        var (sql, values) = (Self.accessTokenAlike, [owner(account)] + token.identity(variant).map(Value.text))
        if index.has(account) {
            guard let id = index.row(of: account, token.identity(variant)) else { return nil }
            (sql, values) = (Self.accessTokenOfRow, [.integer(id), owner(account)])
        }
        let found = try connection.first(sql, values) { row -> (id: Int64, stored: AccessTokenRow?)? in
            let intact = try intact { (try open(row, of: .accessToken), try openMembers(row, of: .accessToken, 1)) }
            guard let (secret, extra) = intact else { return variant == token.variant ? (row.integer(0), nil) : nil }
            guard variant == token.variant || TokenVariant(of: extra).text == token.variant else { return nil }
            var stored = AccessTokenRow(row, secret: secret, extra: extra)
            // An import does not tell what was asked for, and leaves it out of account.
            stored.asked = token.asked
            return (row.integer(0), stored)
        }
        return found ?? nil
    }

    private static let exportedAccessTokens = SQL(
        SealedTable.accessToken.selection(with: "a.home_account_id") + """
            WHERE t.credential_type = ?1 AND NOT (t.token_type_fold = 'dpop' AND EXISTS (
                SELECT 1 FROM dpop_key k WHERE k.account_id = t.account_id AND k.client_fold = t.client_fold
            )) ORDER BY t.id
            """
    )

    /// Calls `body` with each access token of a type, and its account; a client's own token has none.
    ///
    /// Those that are bound to a DPoP key of the store are left out: the document has no place for the key.
    func forEachAccessToken(
        ofType credentialType: String,
        _ body: (AccessTokenRow, Account.ID?) throws -> Void
    ) throws {
        let table = SealedTable.accessToken
        try connection.walk(Self.exportedAccessTokens, .text(credentialType)) { row in
            let token = AccessTokenRow(row, secret: try open(row, of: table), extra: try openMembers(row, of: table, 1))
            try body(token, row.optionalText(table.end).map { table.account($0, of: row) })
        }
    }
}

/// Which rows hold the tokens of one kind of the accounts that have many, while a document is taken in.
///
/// No index of the store finds an access token by its scope, or a refresh token by its partition: for each of many, all
/// the others would be looked through.
struct TokenIndex {
    private var counts: [Int64?: Int] = [:]
    private var rows: [Int64?: [[UInt8]: Int64]] = [:]

    private static let many = 64

    /// Counts a token of an account.
    ///
    /// - Returns: whether the rows of the account are to be added now.
    mutating func count(_ account: Int64?) -> Bool {
        counts[account, default: 0] += 1
        guard counts[account] == Self.many else { return false }
        rows[account] = [:]
        return true
    }

    func has(_ account: Int64?) -> Bool { rows[account] != nil }

    func row(of account: Int64?, _ identity: [String]) -> Int64? { rows[account]?[Self.key(identity)] }

    /// Adds a row unless there is one of the same identity.
    mutating func add(_ row: Int64, of account: Int64?, _ identity: [String]) {
        let key = Self.key(identity)
        if rows[account]?[key] == nil { rows[account]?[key] = row }
    }

    /// Notes that a row holds a token, which may have been one of a partition that was not known.
    mutating func set(_ row: Int64, of account: Int64?, _ token: AccessTokenRow) {
        guard has(account) else { return }
        let ordinary = Self.key(token.identity(""))
        if rows[account]?[ordinary] == row { rows[account]?[ordinary] = nil }
        set(row, of: account, token.identity(token.variant))
    }

    /// Notes that a row holds what has this identity.
    mutating func set(_ row: Int64, of account: Int64?, _ identity: [String]) {
        if has(account) { rows[account]?[Self.key(identity)] = row }
    }

    /// Goes without an index of an account for good.
    mutating func drop(_ account: Int64?) { rows[account] = nil }

    /// The texts as bytes, as two spellings of a letter are two scopes; the last one without regard to case.
    private static func key(_ identity: [String]) -> [UInt8] {
        var key: [UInt8] = []
        for text in identity.dropLast() { key += Array(text.utf8) + [0] }
        return key + (identity.last ?? "").utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
    }
}

extension AccessTokenRow {
    /// What makes two imported tokens of one account and a variant the same.
    fileprivate func identity(_ variant: String) -> [String] {
        [clientID.folded, realmFold, tokenTypeFold, keyID, variant, environment, target]
    }

    /// Whether `token`, of the same identity, is newer, or the same with other fields.
    ///
    /// Of two that were cached in one second the first one stays, or two rows of one document would take turns; but a
    /// tenant that is named counts for more than a word such as "organizations" in its place.
    ///
    /// Not every document says when a token was cached, so one that is good for longer than its buffer counts as newer
    /// than one that ends before that, and this one as newer than one that has ended. Comparing ends alone where a time
    /// is missing would let three tokens take turns.
    ///
    /// A time that is yet to come makes a token older than any other.
    fileprivate func isReplaceable(by token: AccessTokenRow, now: Int64) -> Bool {
        func rank(_ row: AccessTokenRow) -> (Int, Int64, Int64) {
            let isPast = row.cachedAt.map { MSALEntity.isPast($0, now: now) } ?? true
            let time = isPast ? row.cachedAt ?? 0 : 0
            guard isPast, row.expiresOn > now else { return (0, time, row.expiresOn) }
            let isGood = ExpiryBuffer.standard.isBehind(now, cachedAt: row.cachedAt, expiresOn: row.expiresOn)
            return (isGood ? 2 : 1, time, row.expiresOn)
        }
        let (own, other) = (rank(self), rank(token))
        guard own == other, secret != token.secret else { return own <= other }
        return realm.isWordFor(token.realm)
    }
}
