import OAuth
import SQLite
import Sealing

extension StoreSession {
    func insertAccessToken(_ token: StoredAccessToken, account: Int64?) throws {
        let id = try nextID("SELECT max(id) FROM access_token")
        try writeAccessToken(token, account: account, id: id)
    }

    /// Writes the row `id`, new or not.
    func writeAccessToken(_ token: StoredAccessToken, account: Int64?, id: Int64) throws {
        let owner = account ?? 0
        try connection.run(
            """
            INSERT OR REPLACE INTO access_token (id, account_id, client_id, client_fold, environment, realm, realm_fold,
                target, scope_fold, credential_type, token_type, token_type_fold, key_id, variant, cached_at,
                expires_on, extended_expires_on, refresh_on, extra, secret, asked_fold)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)
            """,
            .integer(id),
            .optional(account),
            .text(token.clientID),
            .text(token.clientID.folded),
            .text(token.environment),
            .text(token.realm),
            .text(token.realmFold),
            .text(token.target),
            .text(token.scopeFold),
            .text(token.credentialType),
            .optional(token.tokenType),
            .text(token.tokenTypeFold),
            .text(token.keyID),
            .text(token.variant),
            .optional(token.cachedAt),
            .integer(token.expiresOn),
            .optional(token.extendedExpiresOn),
            .optional(token.refreshOn),
            .optional(try sealMembers(token.extra, as: .accessToken("extra", owner: owner, row: id))),
            .blob(try seal(token.secret, as: .accessToken("secret", owner: owner, row: id))),
            .optional(token.asked?.foldedText)
        )
    }

    /// Stores a token in the place of those it overlaps.
    ///
    /// Those are of the same client, tenant, type, key and variant, and have a scope in common. Fields not known here pass from one of the same scope to the new one.
    func replaceAccessTokens(with token: StoredAccessToken, account: Int64?) throws {
        var token = token
        let overlapping = try connection.all(
            """
            SELECT id, target, extra FROM access_token
            WHERE account_id IS ?1 AND client_fold = ?2 AND realm_fold = ?3 AND token_type_fold = ?4 AND key_id = ?5
                AND variant = ?6
            """,
            .optional(account),
            .text(token.clientID.folded),
            .text(token.realmFold),
            .text(token.tokenTypeFold),
            .text(token.keyID),
            .text(token.variant)
        ) { row -> Int64? in
            let (id, scope) = (row.integer(0), Scope(row.text(1)))
            guard scope.intersects(token.scope) else { return nil }
            if scope.foldedText == token.scope.foldedText {
                let extra = try openMembers(row, 2, as: .accessToken("extra", owner: account ?? 0, row: id))
                token.extra = extra.merging(token.extra)
            }
            return id
        }
        for case let id? in overlapping {
            try connection.run("DELETE FROM access_token WHERE id = ?1", .integer(id))
        }
        try insertAccessToken(token, account: account)
    }
}

extension SealedPlace {
    static func accessToken(_ column: String, owner: Int64, row: Int64) -> SealedPlace {
        SealedPlace(table: "access_token", column: column, owner: owner, row: row)
    }
}
