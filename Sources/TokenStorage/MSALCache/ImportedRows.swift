import OAuth
import SQLite
import Sealing

extension StoreConnection {
    /// The row of the account, made if there is none; where there is one, gaps are filled and nothing is replaced.
    func describeAccount(_ identity: AccountIdentity, _ account: AccountProfile) throws -> Int64 {
        guard let row = try accountRow(identity.id) else { return try insertAccount(identity, account) }
        try changeAccount(row) { known in
            if known.username.isEmpty { known.username = account.username }
            known.policy = known.policy ?? account.policy
            known.issuer = known.issuer ?? account.issuer
        }
        return row
    }

    /// Gives an account the names of an imported row; empty ones change nothing.
    ///
    /// A tenant that the account is a guest of may call it by another name, which only fills a gap.
    func nameAccount(_ row: Int64, username: String, name: String?, isHome: Bool) throws {
        try changeAccount(row) { known in
            if !username.isEmpty, isHome || known.username.isEmpty { known.username = username }
            known.name = isHome ? name ?? known.name : known.name ?? name
        }
    }

    private static let accessTokenAlike = SQL(
        SealedTable.accessToken.selection + """
            WHERE t.account_id IS ?1 AND t.client_fold = ?2 AND t.realm_fold = ?3 AND t.token_type_fold = ?4
                AND t.key_id = ?5 AND t.variant = ?6 AND t.environment = ?7 AND lower(t.target) = lower(?8)
            """
    )
    private static let refreshTokenAlike = SQL(
        SealedTable.refreshToken.selection + """
            WHERE t.account_id = ?1 AND t.client_fold = ?2 AND t.environment = ?3 AND t.target IS ?4
                AND t.credential_type = ?5 AND t.family_id IS ?6
            """
    )

    /// Takes in an access token unless the store has the same or a newer one under the same identity.
    func importAccessToken(_ token: AccessTokenRow, account: Int64?) throws -> Bool {
        typealias Column = AccessTokenColumn
        let known = try connection.first(
            Self.accessTokenAlike,
            .optional(account),
            .text(token.clientID.folded),
            .text(token.realmFold),
            .text(token.tokenTypeFold),
            .text(token.keyID),
            .text(token.variant),
            .text(token.environment),
            .text(token.target)
        ) { row in
            var stored = token
            let intact = try intact { (try open(row, of: .accessToken), try openMembers(row, of: .accessToken, 1)) }
            guard let (secret, extra) = intact else { return (row.integer(0), AccessTokenRow?.none) }
            (stored.secret, stored.extra) = (secret, extra)
            stored.cachedAt = row.optionalInteger(Column.cachedAt)
            stored.target = row.text(Column.target)
            stored.realm = row.text(Column.realm)
            stored.clientID = row.text(Column.clientID)
            stored.tokenType = row.optionalText(Column.tokenType)
            stored.expiresOn = row.integer(Column.expiresOn)
            stored.extendedExpiresOn = row.optionalInteger(Column.extendedExpiresOn)
            stored.refreshOn = row.optionalInteger(Column.refreshOn)
            stored.credentialType = row.text(Column.credentialType)
            return (row.integer(0), stored)
        }
        guard let (id, stored) = known else {
            try insertAccessToken(token, account: account)
            return true
        }
        guard let stored else {
            try writeAccessToken(token, account: account, id: id)
            return true
        }
        guard stored.isReplaceable(by: token) else { return false }
        var merged = token
        merged.extra = stored.extra.merging(token.extra)
        if merged == stored { return false }
        try writeAccessToken(merged, account: account, id: id)
        return true
    }

    /// Takes in a refresh token unless the store has the same or a newer one under the same identity.
    func importRefreshToken(_ token: RefreshTokenRow, account: Int64) throws -> Bool {
        let table = SealedTable.refreshToken
        let known = try connection.first(
            Self.refreshTokenAlike,
            .integer(account),
            .text(token.clientID.folded),
            .text(token.environment),
            .optional(token.target),
            .text(token.credentialType),
            .optional(token.familyID)
        ) { row in
            (
                id: row.integer(0), modifiedAt: row.integer(table["modified_at"]),
                generation: row.integer(table["generation"]),
                intact: try intact { (try open(row, of: table), try openMembers(row, of: table, 1)) }
            )
        }
        guard let known else {
            try insertRefreshToken(token, account: account)
            return true
        }
        let next = max(0, known.generation) &+ 1
        guard let (secret, extra) = known.intact else {
            try writeRefreshToken(token, account: account, id: known.id, generation: next)
            return true
        }
        if known.modifiedAt > token.modifiedAt { return false }
        var merged = token
        merged.extra = extra.merging(token.extra)
        if secret == token.secret, extra == merged.extra, known.modifiedAt == token.modifiedAt { return false }
        try writeRefreshToken(merged, account: account, id: known.id, generation: next)
        return true
    }

    /// Takes in an ID token unless the store has one that was issued later.
    func importIDToken(_ token: IDTokenRow, claims: Claims?, account: Int64) throws -> Bool {
        let stored =
            try connection.first(
                Self.tokenAlike,
                .integer(account),
                .text(token.clientID.folded),
                .text(token.realmFold),
                .text(token.environment)
            ) { row in
                try intact { (try open(row, of: .idToken), row.text(SealedTable.idToken["realm"])) }
            } ?? nil
        guard let (secret, realm) = stored, let known = (try? IDToken(decoding: secret))?.claims else {
            return try saveIDToken(token, claims: claims, account: account)
        }
        // A token that cannot be decoded takes the place of none that can.
        guard let claims else { return false }
        if let newest = known.issuedAt, let own = claims.issuedAt {
            let isNamed = realm.isWordFor(token.realm)
            if newest > own || newest == own && secret != token.secret && !isNamed { return false }
        }
        var token = token
        if token.realm.isWordFor(realm) { token.realm = realm }
        return try saveIDToken(token, claims: claims, account: account)
    }

    /// An import of a refresh token is a person's word that the account is to be used again.
    func forgetSignOut(account: Int64, client: String) throws {
        try connection.run(
            """
            DELETE FROM account_state WHERE account_id = ?1 AND client_fold = ?2 AND state = 'signed_out'
            """,
            .integer(account),
            .text(client.folded)
        )
    }
}

extension AccessTokenRow {
    /// Whether `token`, of the same identity, is newer, or the same with other fields.
    ///
    /// Of two that were cached in one second the first one stays, or two rows of one document would take turns; but a
    /// tenant that is named counts for more than a word such as "organizations" in its place.
    fileprivate func isReplaceable(by token: AccessTokenRow) -> Bool {
        let (own, other) = ((cachedAt ?? 0, expiresOn), (token.cachedAt ?? 0, token.expiresOn))
        guard own == other, secret != token.secret else { return own <= other }
        return realm.isWordFor(token.realm)
    }
}

extension String {
    /// Whether this realm is a word such as "organizations", and `other` a tenant.
    func isWordFor(_ other: String) -> Bool { Authority.isTenantless(self) && !Authority.isTenantless(other) }
}
