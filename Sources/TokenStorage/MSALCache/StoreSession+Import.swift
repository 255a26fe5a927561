import OAuth
import SQLite
import Sealing

extension StoreSession {
    /// The row of the account, made if there is none; where there is one, gaps are filled and nothing is replaced.
    func describeAccount(_ identity: AccountIdentity, _ account: StoredAccount) throws -> Int64 {
        guard let row = try accountRow(identity.id) else { return try insertAccount(identity, account) }
        try connection.run(
            """
            UPDATE account SET username = ?2, username_fold = ?3 WHERE id = ?1 AND username = '' AND ?2 <> ''
            """,
            .integer(row),
            .text(account.username),
            .text(account.username.folded)
        )
        try connection.run(
            """
            UPDATE account SET policy = coalesce(policy, ?2), issuer = coalesce(issuer, ?3)
            WHERE id = ?1 AND (policy IS NULL AND ?2 IS NOT NULL OR issuer IS NULL AND ?3 IS NOT NULL)
            """,
            .integer(row),
            .optional(account.policy),
            .optional(account.issuer)
        )
        return row
    }

    /// Gives an account the names of an imported row; empty ones change nothing.
    ///
    /// A tenant that the account is a guest of may call it by another name, which only fills a gap.
    func nameAccount(_ row: Int64, username: String, name: String?, isHome: Bool) throws {
        let known = try connection.first("SELECT username, name FROM account WHERE id = ?1", .integer(row)) { columns in
            let place = SealedPlace(table: "account", column: "name", row: row)
            return (columns.text(0), columns.isNull(1) ? nil : try open(columns, 1, as: place).reveal())
        }
        guard let known else { return }
        let newUsername = username.isEmpty || !isHome && !known.0.isEmpty ? known.0 : username
        let newName = isHome ? name ?? known.1 : known.1 ?? name
        guard known.0 != newUsername || known.1 != newName else { return }
        try connection.run(
            "UPDATE account SET username = ?2, username_fold = ?3, name = ?4 WHERE id = ?1",
            .integer(row),
            .text(newUsername),
            .text(newUsername.folded),
            .optional(try newName.map { try sealName($0, row: row) })
        )
    }

    /// Takes in an access token unless the store has the same or a newer one under the same identity.
    func importAccessToken(_ token: StoredAccessToken, account: Int64?) throws -> Bool {
        let known = try connection.first(
            """
            SELECT id, cached_at, secret, extra, target, realm, client_id, token_type, expires_on, extended_expires_on,
                refresh_on, credential_type
            FROM access_token
            WHERE account_id IS ?1 AND client_fold = ?2 AND realm_fold = ?3 AND token_type_fold = ?4 AND key_id = ?5
                AND variant = ?6 AND environment = ?7 AND lower(target) = lower(?8)
            """,
            .optional(account),
            .text(token.clientID.folded),
            .text(token.realmFold),
            .text(token.tokenTypeFold),
            .text(token.keyID),
            .text(token.variant),
            .text(token.environment),
            .text(token.target)
        ) { row in
            let (id, owner) = (row.integer(0), account ?? 0)
            var stored = token
            stored.cachedAt = row.optionalInteger(1)
            stored.secret = try open(row, 2, as: .accessToken("secret", owner: owner, row: id))
            stored.extra = try openMembers(row, 3, as: .accessToken("extra", owner: owner, row: id))
            (stored.target, stored.realm, stored.clientID) = (row.text(4), row.text(5), row.text(6))
            stored.tokenType = row.optionalText(7)
            stored.expiresOn = row.integer(8)
            stored.extendedExpiresOn = row.optionalInteger(9)
            stored.refreshOn = row.optionalInteger(10)
            stored.credentialType = row.text(11)
            return (id, stored)
        }
        guard let (id, stored) = known else {
            try insertAccessToken(token, account: account)
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
    func importRefreshToken(_ token: StoredRefreshToken, account: Int64) throws -> Bool {
        let known = try connection.first(
            """
            SELECT id, modified_at, generation, secret, extra FROM refresh_token
            WHERE account_id = ?1 AND client_fold = ?2 AND environment = ?3 AND target IS ?4 AND credential_type = ?5
                AND family_id IS ?6
            """,
            .integer(account),
            .text(token.clientID.folded),
            .text(token.environment),
            .optional(token.target),
            .text(token.credentialType),
            .optional(token.familyID)
        ) { row in
            let id = row.integer(0)
            let secret = try open(row, 3, as: .refreshToken("secret", owner: account, row: id))
            let extra = try openMembers(row, 4, as: .refreshToken("extra", owner: account, row: id))
            return (id, row.integer(1), row.integer(2), secret, extra)
        }
        guard let (id, modifiedAt, generation, secret, extra) = known else {
            try insertRefreshToken(token, account: account)
            return true
        }
        if modifiedAt > token.modifiedAt { return false }
        var merged = token
        merged.extra = extra.merging(token.extra)
        if secret == token.secret && extra == merged.extra && modifiedAt == token.modifiedAt { return false }
        try writeRefreshToken(merged, account: account, id: id, generation: generation + 1)
        return true
    }

    /// Takes in an ID token unless the store has one that was issued later.
    func importIDToken(_ token: StoredIDTokenRow, claims: Claims?, account: Int64) throws -> Bool {
        let stored = try connection.first(
            """
            SELECT id, secret, realm FROM id_token
            WHERE account_id = ?1 AND client_fold = ?2 AND realm_fold = ?3 AND environment = ?4
            """,
            .integer(account),
            .text(token.clientID.folded),
            .text(token.realmFold),
            .text(token.environment)
        ) { (try open($0, 1, as: .idToken("secret", owner: account, row: $0.integer(0))), $0.text(2)) }
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

extension StoredAccessToken {
    /// Whether `token`, of the same identity, is newer, or the same with other fields.
    ///
    /// Of two that were cached in one second the first one stays, or two rows of one document would take turns; but a
    /// tenant that is named counts for more than a word such as "organizations" in its place.
    fileprivate func isReplaceable(by token: StoredAccessToken) -> Bool {
        let (own, other) = ((cachedAt ?? 0, expiresOn), (token.cachedAt ?? 0, token.expiresOn))
        guard own == other, secret != token.secret else { return own <= other }
        return realm.isWordFor(token.realm)
    }
}

extension String {
    /// Whether this realm is a word such as "organizations", and `other` a tenant.
    func isWordFor(_ other: String) -> Bool { Authority.isTenantless(self) && !Authority.isTenantless(other) }
}
