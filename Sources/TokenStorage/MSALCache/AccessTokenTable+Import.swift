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

    /// Takes in an access token unless the store has the same or a newer one under the same identity.
    func importAccessToken(_ token: AccessTokenRow, account: Int64?) throws -> Bool {
        let known =
            try storedAccessToken(like: token, of: account, variant: token.variant)
            ?? (token.variant.isEmpty ? nil : storedAccessToken(like: token, of: account, variant: ""))
        guard let (id, stored) = known else {
            try insertAccessToken(token, account: account)
            return true
        }
        guard let stored else {
            try writeAccessToken(token, account: account, id: id)
            return true
        }
        guard stored.isReplaceable(by: token, now: now) else { return false }
        var merged = token
        merged.extra = stored.extra.merging(token.extra)
        if merged == stored { return false }
        try writeAccessToken(merged, account: account, id: id)
        return true
    }

    /// The row that an imported token is the same as, and what it holds; nil of one that was altered.
    ///
    /// Before this version some partitions were not known, and their rows stand among ordinary ones.
    private func storedAccessToken(
        like token: AccessTokenRow,
        of account: Int64?,
        variant: String
    ) throws -> (id: Int64, stored: AccessTokenRow?)? {
        let found = try connection.first(
            Self.accessTokenAlike,
            owner(account),
            .text(token.clientID.folded),
            .text(token.realmFold),
            .text(token.tokenTypeFold),
            .text(token.keyID),
            .text(variant),
            .text(token.environment),
            .text(token.target)
        ) { row -> (id: Int64, stored: AccessTokenRow?)? in
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

    /// Calls `body` with each access token of a type, and the id of its account; a client's own token has none.
    ///
    /// Those that are bound to a DPoP key of the store are left out: the document has no place for the key.
    func forEachAccessToken(
        ofType credentialType: String,
        _ body: (AccessTokenRow, _ homeAccountID: String?) throws -> Void
    ) throws {
        let table = SealedTable.accessToken
        try connection.walk(Self.exportedAccessTokens, .text(credentialType)) { row in
            let token = AccessTokenRow(row, secret: try open(row, of: table), extra: try openMembers(row, of: table, 1))
            try body(token, row.optionalText(table.end))
        }
    }
}

extension AccessTokenRow {
    /// Whether `token`, of the same identity, is newer, or the same with other fields.
    ///
    /// Of two that were cached in one second the first one stays, or two rows of one document would take turns; but a
    /// tenant that is named counts for more than a word such as "organizations" in its place.
    ///
    /// A time that is yet to come makes a token older than any other.
    fileprivate func isReplaceable(by token: AccessTokenRow, now: Int64) -> Bool {
        func time(_ row: AccessTokenRow) -> Int64 {
            row.cachedAt.flatMap { MSALEntity.isPast($0, now: now) ? $0 : nil } ?? 0
        }
        let (own, other) = ((time(self), expiresOn), (time(token), token.expiresOn))
        guard own == other, secret != token.secret else { return own <= other }
        return realm.isWordFor(token.realm)
    }
}
