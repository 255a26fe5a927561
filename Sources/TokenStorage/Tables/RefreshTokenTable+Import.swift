import Database
import OAuth
import SQL
import Sealing

extension StoreConnection {
    private static let refreshTokenAlike = SQL { dialect in
        SealedTable.refreshToken.selection + """
            WHERE t.account_id = ?1 AND t.client_fold = ?2 AND t.environment = ?3
                AND \(dialect.same("t.target", "?4")) AND t.credential_type = ?5
                AND \(dialect.same("t.family_id", "?6"))
            """
    }

    /// Takes in a refresh token unless the store has the same one under the same identity, or one that may be newer.
    ///
    /// Most libraries write no time beside it; `age` is that of the ID token beside it, or of access tokens, and `time`
    /// that of the newest.
    ///
    /// - Returns: the row that was written; nil if nothing changed.
    func importRefreshToken(
        _ token: RefreshTokenRow,
        age: ImportedAge?,
        by time: Int64? = nil,
        account: Int64,
        _ index: inout TokenIndex
    ) throws -> Int64? {
        if index.count(account) { try fill(&index, account) }
        let identity = token.identity(TokenVariant(of: token.extra))
        let known =
            try index.has(account)
            ? index.row(of: account, identity).flatMap { id in
                try connection.first(Self.rowOfRefreshToken, .integer(id), .integer(account)) {
                    try knownRefreshToken($0)
                }
            }
            : storedRefreshToken(like: token, identity, account: account)
        guard let known else {
            let id = try writeRefreshToken(token, account: account, id: nil, generation: 0)
            index.set(id, of: account, identity)
            return id
        }
        let next = max(0, known.generation) &+ 1
        guard let stored = known.intact else {
            try writeRefreshToken(token, account: account, id: known.id, generation: next)
            return known.id
        }
        if stored.secret == token.secret {
            if stored.modifiedAt > token.modifiedAt { return nil }
        } else if try !hasEnded(known.id, stored.secret, generation: known.generation, account: account) {
            // One that the issuer has spent may end the session when it is used again.
            let isTold =
                stored.modifiedAt > 0 && token.modifiedAt > 0 && stored.modifiedAt != token.modifiedAt
            // A refresh may have brought another one since, and no ID token.
            let isLater = stored.modifiedAt == 0 || time.map { $0 > stored.modifiedAt } ?? false
            let isNewer =
                if age == nil || isTold { stored.modifiedAt < token.modifiedAt } else { age == .newer && isLater }
            guard isNewer else { return nil }
        }
        var merged = token
        merged.extra = stored.extra.merging(token.extra)
        let isSame = stored.secret == token.secret && stored.modifiedAt == token.modifiedAt
        if isSame, stored.extra == merged.extra { return nil }
        try writeRefreshToken(merged, account: account, id: known.id, generation: next)
        return known.id
    }

    /// Adds the refresh tokens of an account, unless one was altered: of which partition that is nobody knows.
    private func fill(_ index: inout TokenIndex, _ account: Int64) throws {
        let stored = try connection.all(Self.refreshTokensOfAccount, .integer(account)) {
            row -> (id: Int64, identity: [String]?) in
            let token = try intact { try openRefreshToken(row) }
            return (row.integer(0), token.map { $0.identity(TokenVariant(of: $0.extra)) })
        }
        for token in stored {
            guard let identity = token.identity else { return index.drop(account) }
            index.add(token.id, of: account, identity)
        }
    }

    /// The token that an imported one is the same as, else one that was altered: that says no partition.
    ///
    /// Those of another partition are tokens of their own. So are those of another client, of which an index of a file
    /// may have said something else: they open when they are read by their ids.
    private func storedRefreshToken(
        like token: RefreshTokenRow,
        _ identity: [String],
        account: Int64
    ) throws -> KnownRefreshToken? {
        let alike = try connection.all(
            Self.refreshTokenAlike,
            .integer(account),
            .text(token.clientID.folded),
            .text(token.environment),
            .optional(token.target),
            .text(token.credentialType),
            .optional(token.familyID)
        ) { try knownRefreshToken($0) }
        return try alike.first { $0.identity == identity }
            ?? alike.first { try $0.intact == nil && isAltered($0.id, account: account) }
    }

    private func isAltered(_ row: Int64, account: Int64) throws -> Bool {
        try connection.first(Self.rowOfRefreshToken, .integer(row), .integer(account)) { row in
            try knownRefreshToken(row).intact == nil
        } ?? false
    }

    private func knownRefreshToken(_ row: Row) throws -> KnownRefreshToken {
        KnownRefreshToken(
            id: row.integer(0),
            generation: row.integer(SealedTable.refreshToken["generation"]),
            intact: try intact { try openRefreshToken(row) }
        )
    }

    private static let exportedRefreshTokens = SQL(
        SealedTable.refreshToken.selection(with: "a.home_account_id") + """
            WHERE a.id IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM dpop_key k WHERE k.account_id = t.account_id AND k.client_fold = t.client_fold
            ) ORDER BY t.id
            """
    )

    /// Calls `body` with each refresh token, and its account.
    ///
    /// Those that are bound to a DPoP key are left out: the document has no place for the key, and without it they are
    /// of no use.
    func forEachRefreshToken(_ body: (RefreshTokenRow, Account.ID) throws -> Void) throws {
        try connection.walk(Self.exportedRefreshTokens) { row in
            let table = SealedTable.refreshToken
            try body(try openRefreshToken(row), table.account(row.text(table.end), of: row))
        }
    }

    func openRefreshToken(_ row: Row) throws -> RefreshTokenRow {
        let table = SealedTable.refreshToken
        return RefreshTokenRow(
            clientID: row.text(table["client_id"]),
            familyID: row.optionalText(table["family_id"]),
            environment: row.text(table["environment"]),
            target: row.optionalText(table["target"]),
            credentialType: row.text(table["credential_type"]),
            modifiedAt: row.integer(table["modified_at"]),
            extra: try openMembers(row, of: table, 1),
            secret: try open(row, of: table)
        )
    }

    /// Computes the fingerprint anew under the current data key; the record of use goes on naming the same token.
    func rehashFingerprint(_ row: Int64, account: Int64) throws {
        let known = try connection.first(Self.rowOfRefreshToken, .integer(row), .integer(account)) { columns in
            (
                new: try currentSealer().fingerprint(open(columns, of: .refreshToken)),
                old: columns.blob(SealedTable.refreshToken["fingerprint"])
            )
        }
        guard let known else { return }
        try connection.run(
            // Over several machines the row is not locked, and may have got another token meanwhile.
            "UPDATE refresh_token SET fingerprint = ?2 WHERE id = ?1 AND account_id = ?3 AND fingerprint = ?4",
            .integer(row),
            .blob(known.new),
            .integer(account),
            .blob(known.old)
        )
        if known.old != known.new { try renameToken(known.old, known.new) }
    }
}

/// A refresh token that the store had before an entry of a document.
private struct KnownRefreshToken {
    let id: Int64
    let generation: Int64

    /// Nil where it was altered.
    let intact: RefreshTokenRow?

    var identity: [String]? { intact.map { $0.identity(TokenVariant(of: $0.extra)) } }
}

extension RefreshTokenRow {
    /// What makes two imported tokens of one account and a partition the same.
    fileprivate func identity(_ variant: TokenVariant) -> [String] {
        // The last one counts without regard to case, and these do not.
        [clientID.folded, environment, target.map { "=" + $0 } ?? "", credentialType, familyID ?? "", variant.text, ""]
    }
}
