import OAuth
import SQLite
import Sealing

/// The row of an ID token.
struct StoredIDTokenRow: Equatable {
    var clientID: String
    var environment: String
    var realm: String
    var realmFold: String
    var credentialType = "IdToken"
    var extra = JSON.Object()
    var secret: Secret
}

extension StoreSession {
    /// Adds the ID token, or replaces the one of the same account, client, tenant and host, with its claim index.
    ///
    /// - Returns: whether anything changed.
    func saveIDToken(_ token: StoredIDTokenRow, claims: Claims?, account: Int64) throws -> Bool {
        let known = try connection.first(
            """
            SELECT id, extra, secret FROM id_token
            WHERE account_id = ?1 AND client_fold = ?2 AND realm_fold = ?3 AND environment = ?4
            """,
            .integer(account),
            .text(token.clientID.folded),
            .text(token.realmFold),
            .text(token.environment)
        ) { row in
            let id = row.integer(0)
            let extra = try openMembers(row, 1, as: .idToken("extra", owner: account, row: id))
            let secret = try open(row, 2, as: .idToken("secret", owner: account, row: id))
            return (id, extra, secret)
        }
        var token = token
        if let known {
            token.extra = known.1.merging(token.extra)
            if known.2 == token.secret, known.1 == token.extra { return false }
        }
        let id = try known?.0 ?? nextID("SELECT max(id) FROM id_token")
        try writeIDToken(token, account: account, id: id)
        try indexClaims(claims, idToken: id, isNew: known == nil)
        return true
    }

    private func writeIDToken(_ token: StoredIDTokenRow, account: Int64, id: Int64) throws {
        try connection.run(
            """
            INSERT INTO id_token (id, account_id, client_id, client_fold, environment, realm, realm_fold,
                credential_type, updated_at, extra, secret)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            ON CONFLICT (id) DO UPDATE SET realm = excluded.realm, credential_type = excluded.credential_type,
                updated_at = excluded.updated_at, extra = excluded.extra, secret = excluded.secret
            """,
            .integer(id),
            .integer(account),
            .text(token.clientID),
            .text(token.clientID.folded),
            .text(token.environment),
            .text(token.realm),
            .text(token.realmFold),
            .text(token.credentialType),
            .integer(now),
            .optional(try sealMembers(token.extra, as: .idToken("extra", owner: account, row: id))),
            .blob(try seal(token.secret, as: .idToken("secret", owner: account, row: id)))
        )
    }

    /// Makes the index say what the claims of row `idToken` say now; on a refresh most of it stays.
    private func indexClaims(_ claims: Claims?, idToken: Int64, isNew: Bool) throws {
        let wanted = try claims.map { Set(ClaimIndex(try currentSealer()).entries(of: $0)) } ?? []
        let stored = isNew ? [] : Set(try claimEntries(idToken))
        for entry in stored.subtracting(wanted) {
            try connection.run(
                "DELETE FROM claim_index WHERE id_token_id = ?1 AND name_hash = ?2 AND value_hash = ?3",
                .integer(idToken),
                .blob(entry.name),
                .blob(entry.value)
            )
        }
        for entry in wanted.subtracting(stored) {
            try connection.run(
                "INSERT INTO claim_index (id_token_id, name_hash, value_hash) VALUES (?1, ?2, ?3)",
                .integer(idToken),
                .blob(entry.name),
                .blob(entry.value)
            )
        }
    }

    private func claimEntries(_ idToken: Int64) throws -> [ClaimIndex.Entry] {
        try connection.all(
            "SELECT name_hash, value_hash FROM claim_index WHERE id_token_id = ?1",
            .integer(idToken)
        ) { ClaimIndex.Entry(name: $0.blob(0), value: $0.blob(1)) }
    }

    /// Replaces the whole index of a row, under the current data key.
    func reindexClaims(_ claims: Claims?, idToken: Int64) throws {
        try indexClaims(claims, idToken: idToken, isNew: false)
    }

    /// The ID tokens of an account, newest first.
    func idTokens(_ account: Int64, client: String? = nil) throws -> [StoredIDToken] {
        try connection.all(
            """
            SELECT id, client_id, realm_fold, updated_at, secret FROM id_token
            WHERE account_id = ?1 AND client_fold = coalesce(?2, client_fold) ORDER BY updated_at DESC, id DESC
            """,
            .integer(account),
            .optional(client?.folded)
        ) { row in
            let secret = try open(row, 4, as: .idToken("secret", owner: account, row: row.integer(0)))
            guard let idToken = try? IDToken(decoding: secret) else { return nil }
            return StoredIDToken(
                idToken: idToken,
                clientID: row.text(1),
                tenantID: row.text(2),
                updatedAt: row.integer(3)
            )
        }.compactMap { $0 }
    }
}

extension SealedPlace {
    static func idToken(_ column: String, owner: Int64, row: Int64) -> SealedPlace {
        SealedPlace(table: "id_token", column: column, owner: owner, row: row)
    }
}
