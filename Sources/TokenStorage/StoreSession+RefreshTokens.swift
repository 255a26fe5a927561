import OAuth
import SQLite
import Sealing

/// The row of a refresh token.
struct StoredRefreshToken {
    var clientID: String
    var familyID: String?
    var environment: String

    /// The scope it was issued for; nil: in a rotation, that of the token it replaces.
    var target: String?
    var credentialType = "RefreshToken"

    /// Unix seconds; 0 if it is not known.
    var modifiedAt: Int64
    var extra = JSON.Object()
    var secret: Secret
}

extension StoreSession {
    func insertRefreshToken(_ token: StoredRefreshToken, account: Int64) throws {
        let id = try nextID("SELECT max(id) FROM refresh_token")
        try writeRefreshToken(token, account: account, id: id, generation: 0)
    }

    func writeRefreshToken(_ token: StoredRefreshToken, account: Int64, id: Int64, generation: Int64) throws {
        try connection.run(
            """
            INSERT OR REPLACE INTO refresh_token (id, account_id, client_id, client_fold, family_id, environment, target,
                credential_type, modified_at, generation, fingerprint, extra, secret)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """,
            .integer(id),
            .integer(account),
            .text(token.clientID),
            .text(token.clientID.folded),
            .optional(token.familyID),
            .text(token.environment),
            .optional(token.target),
            .text(token.credentialType),
            .integer(token.modifiedAt),
            .integer(generation),
            .blob(try currentSealer().fingerprint(token.secret)),
            .optional(try sealMembers(token.extra, as: .refreshToken("extra", owner: account, row: id))),
            .blob(try seal(token.secret, as: .refreshToken("secret", owner: account, row: id)))
        )
    }

    /// Stores the refresh token of a sign-in in the place of the account's current one for the client or its family.
    ///
    /// Older ones that an import brought stay behind it, but for copies of the one it replaces, which is spent.
    func replaceRefreshToken(with token: StoredRefreshToken, account: Int64) throws {
        let current = try connection.first(
            """
            SELECT id FROM refresh_token
            WHERE account_id = ?1 AND (client_fold = ?2 AND ?3 IS family_id OR family_id = ?3)
            ORDER BY modified_at DESC, id DESC LIMIT 1
            """,
            .integer(account),
            .text(token.clientID.folded),
            .optional(token.familyID)
        ) { $0.integer(0) }
        guard let current else { return try insertRefreshToken(token, account: account) }
        try rotateRefreshToken(current, to: token, account: account)
    }

    /// Replaces the token in row `id` and drops every copy of the old one.
    func rotateRefreshToken(_ id: Int64, to token: StoredRefreshToken, account: Int64) throws {
        let replaced = try connection.first(
            "SELECT fingerprint, generation, client_id, extra, target, environment FROM refresh_token WHERE id = ?1",
            .integer(id)
        ) { row in
            var kept = token
            kept.clientID = row.text(2)
            let place = SealedPlace.refreshToken("extra", owner: account, row: id)
            kept.extra = try openMembers(row, 3, as: place).merging(token.extra)
            kept.target = token.target ?? row.optionalText(4)
            kept.environment = row.text(5)
            return (row.blob(0), row.integer(1), kept)
        }
        guard let (fingerprint, generation, token) = replaced else { return }
        try connection.run(
            "DELETE FROM refresh_token WHERE account_id = ?1 AND fingerprint = ?2 AND id <> ?3",
            .integer(account),
            .blob(fingerprint),
            .integer(id)
        )
        try writeRefreshToken(token, account: account, id: id, generation: generation + 1)
    }

    /// The refresh tokens of an account that `client` may use: its own before those of its family, newest first.
    ///
    /// A token that cannot be opened is an error here: "damaged" must not read as "there is none".
    func refreshTokens(of id: Account.ID, client: String, family: String?) throws -> [RefreshToken] {
        try connection.all(
            """
            SELECT r.id, r.client_id, r.family_id, r.modified_at, r.account_id, r.secret, r.target, r.generation
            FROM refresh_token r JOIN account a ON a.id = r.account_id
            WHERE a.home_account_fold = ?1 AND a.authority = ?2 AND (r.client_fold = ?3 OR r.family_id = ?4)
            ORDER BY r.client_fold = ?3 DESC, r.modified_at DESC, r.id DESC
            """,
            .text(id.key),
            .text(id.authority),
            .text(client.folded),
            .optional(family)
        ) { row in
            let place = SealedPlace.refreshToken("secret", owner: row.integer(4), row: row.integer(0))
            return RefreshToken(
                secret: try open(row, 5, as: place),
                clientID: row.text(1),
                familyID: row.optionalText(2),
                account: id,
                modifiedAt: row.integer(3) == 0 ? nil : row.date(3),
                scope: row.optionalText(6).map { Scope($0) },
                rowID: row.integer(0),
                generation: row.integer(7)
            )
        }
    }

    /// Removes exactly `token`; false if its row holds another one by now.
    func deleteRefreshToken(_ token: RefreshToken) throws -> Bool {
        for sealer in try keys().all {
            let changes = try connection.run(
                "DELETE FROM refresh_token WHERE id = ?1 AND fingerprint = ?2",
                .integer(token.rowID),
                .blob(sealer.fingerprint(token.secret))
            )
            if changes > 0 { return true }
        }
        return false
    }

    /// Whether row `token.rowID` still holds exactly `token`.
    func isCurrent(_ token: RefreshToken) throws -> Bool {
        let stored = try connection.first(
            "SELECT fingerprint FROM refresh_token WHERE id = ?1",
            .integer(token.rowID)
        ) { $0.blob(0) }
        return try keys().all.contains { $0.fingerprint(token.secret) == stored }
    }
}

extension SealedPlace {
    static func refreshToken(_ column: String, owner: Int64, row: Int64) -> SealedPlace {
        SealedPlace(table: "refresh_token", column: column, owner: owner, row: row)
    }
}
