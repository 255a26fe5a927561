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
        _ index: inout TokenIndex,
        _ refreshed: inout RefreshedTokens
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
            let later = try refreshedTokens(like: token, account: account, &refreshed).filter { found in
                found.intact.map { $0.isOfOneSession(as: token) && !$0.isOlder(than: token, age, by: time) } ?? false
            }
            // The answer to a refresh named another scope than the document, whose token is spent since.
            guard try later.allSatisfy({ try hasEnded($0, account: account) }) else { return nil }
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
        } else if try !hasEnded(known, account: account) {
            // One that the issuer has spent may end the session when it is used again.
            guard stored.isOlder(than: token, age, by: time) else { return nil }
        }
        var merged = token
        merged.extra = stored.extra.merging(token.extra)
        if stored.secret != token.secret { merged.signInNonces = token.signInNonces }
        let isSame = stored.secret == token.secret && stored.modifiedAt == token.modifiedAt
        if isSame, stored.extra == merged.extra { return nil }
        try writeRefreshToken(merged, account: account, id: known.id, generation: next)
        return known.id
    }

    /// The tokens of an imported one's client that were refreshed since they were stored, newest first.
    ///
    /// Microsoft's clouds do not spend refresh tokens, and the scope of one stays what it was.
    private func refreshedTokens(
        like token: RefreshTokenRow,
        account: Int64,
        _ refreshed: inout RefreshedTokens
    ) throws -> [KnownRefreshToken] {
        guard !newAccounts.contains(account), !Cloud.contains(token.environment) else { return [] }
        let place = RefreshedTokens.Place(token, account: account)
        if let known = refreshed.tokens[place] { return known }
        let known = try connection.all(
            Self.refreshedTokensOfClient,
            .integer(account),
            .text(token.clientID.folded),
            .text(token.environment),
            .optional(token.familyID)
        ) { try knownRefreshToken($0) }
        refreshed.tokens[place] = known
        return known
    }

    private static let refreshedTokensOfClient = SQL { dialect in
        SealedTable.refreshToken.selection + """
            WHERE t.account_id = ?1 AND t.client_fold = ?2 AND t.environment = ?3
                AND \(dialect.same("t.family_id", "?4")) AND t.generation > 0
            ORDER BY t.modified_at DESC, t.id LIMIT 16
            """
    }

    private func hasEnded(_ known: KnownRefreshToken, account: Int64) throws -> Bool {
        guard let stored = known.intact else { return false }
        return try hasEnded(known.id, stored.secret, generation: known.generation, account: account)
    }

    /// Adds the refresh tokens of an account, unless one was altered, whose partition cannot be known.
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

/// The refresh tokens, by their clients, that were refreshed before a document came; read once.
struct RefreshedTokens {
    fileprivate struct Place: Hashable {
        let account: Int64
        let client: String
        let environment: String
        let family: String?

        init(_ token: RefreshTokenRow, account: Int64) {
            self.account = account
            (client, environment, family) = (token.clientID.folded, token.environment, token.familyID)
        }
    }

    fileprivate var tokens: [Place: [KnownRefreshToken]] = [:]
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
    /// Whether a document's token, of the same client, may be of the session that this one is of: a scope that is not
    /// named may be any.
    fileprivate func isOfOneSession(as token: RefreshTokenRow) -> Bool {
        guard TokenVariant(of: extra).text == TokenVariant(of: token.extra).text else { return false }
        guard let target, let other = token.target else { return true }
        return Scope(target).intersects(Scope(other))
    }

    /// Whether a document's token is newer, by its time or the `age` of what stands beside it.
    fileprivate func isOlder(than token: RefreshTokenRow, _ age: ImportedAge?, by time: Int64?) -> Bool {
        let isTold = modifiedAt > 0 && token.modifiedAt > 0 && modifiedAt != token.modifiedAt
        guard age != nil, !isTold else { return modifiedAt < token.modifiedAt }
        // A refresh may have brought another one since, and no ID token.
        let isLater = modifiedAt == 0 || time.map { $0 > modifiedAt } ?? false
        return age == .newer && isLater
    }

    /// What makes two imported tokens of one account and a partition the same.
    fileprivate func identity(_ variant: TokenVariant) -> [String] {
        // The last one counts without regard to case, and these do not.
        [clientID.folded, environment, target.map { "=" + $0 } ?? "", credentialType, familyID ?? "", variant.text, ""]
    }
}
