import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    /// The fingerprint is a keyed hash of the secret: a check compares it.
    static let refreshToken = SealedTable(
        "refresh_token",
        isOwned: true,
        clear: [
            "client_id", "client_fold", "family_id", "environment", "target", "credential_type", "modified_at",
            "generation",
        ],
        sealed: ["secret", "extra"],
        derived: ["fingerprint"]
    )
}

/// The row of a refresh token.
struct RefreshTokenRow {
    var clientID: String
    var familyID: String?
    var environment: String

    /// The scope it was issued for; nil: in a rotation, that of the token it replaces.
    var target: String?
    var credentialType = "RefreshToken"

    /// Unix seconds; 0 if it is not known.
    var modifiedAt: Int64
    var extra = JSONValue.Object()
    var secret: Secret
}

extension StoreConnection {
    func insertRefreshToken(_ token: RefreshTokenRow, account: Int64) throws {
        try writeRefreshToken(token, account: account, id: nil, generation: 0)
    }

    /// - Returns: the id of the row.
    @discardableResult
    func writeRefreshToken(_ token: RefreshTokenRow, account: Int64, id: Int64?, generation: Int64) throws -> Int64 {
        try write(
            .refreshToken,
            id: id,
            account: account,
            clear: [
                .text(token.clientID), .text(token.clientID.folded), .optional(token.familyID),
                .text(token.environment), .optional(token.target), .text(token.credentialType),
                .integer(token.modifiedAt), .integer(generation),
            ],
            sealed: [token.secret, token.extra.isEmpty ? nil : Secret(token.extra)],
            derived: [.blob(try fingerprint(of: token.secret))]
        )
    }

    /// Stores the refresh token of a sign-in in the place of the account's current one for the client or its family.
    ///
    /// Older imported tokens are kept for later, except copies of the token that it replaces, which is spent.
    func replaceRefreshToken(with token: RefreshTokenRow, account: Int64) throws {
        guard bareAccount != account else { return try insertRefreshToken(token, account: account) }
        var current: Int64?
        try connection.forEach(
            Self.current,
            .integer(account),
            .text(token.clientID.folded),
            .optional(token.familyID)
        ) { row in
            if try current == nil && isOrdinary(row) { current = row.integer(0) }
        }
        guard let current else { return try insertRefreshToken(token, account: account) }
        try rotateRefreshToken(current, to: token, account: account, isSignIn: true)
    }

    /// Asks a server what ``replaceRefreshToken(with:account:)`` will ask, but for the row that it replaces.
    func askAheadForRefreshTokens(_ account: Int64, client: String, family: String?) throws {
        try connection.askAhead(Self.current, .integer(account), .text(client.folded), .optional(family))
        try connection.askAhead(Self.refreshTokensOfAccount, .integer(account))
    }

    /// Asks a server what the rotation of a refresh token will ask.
    func askAheadForRotation(of token: StoredRefreshToken, account: Int64) throws {
        try connection.askAhead(Self.rowOfToken, identity(of: token))
        try connection.askAhead(Self.rowOfRefreshToken, .integer(token.rowID), .integer(account))
        try connection.askAhead(Self.refreshTokensOfAccount, .integer(account))
    }

    private static let current = SQL { dialect in
        SealedTable.refreshToken.selection + """
            WHERE t.account_id = ?1
                AND (t.client_fold = ?2 AND \(dialect.same("?3", "t.family_id")) OR t.family_id = ?3)
            ORDER BY t.modified_at DESC, t.id DESC
            """
    }

    /// What Microsoft's brokers keep among refresh tokens, which no token endpoint takes as one.
    static let foreignTypes = ["primaryrefreshtoken", "boundrefreshtoken"]

    /// Whether a refresh token is the person's session.
    ///
    /// Other programs also keep tokens that they got on behalf of someone, or that only a broker of Microsoft's takes.
    ///
    /// One that was altered counts as the session: its place can be taken.
    func isOrdinary(_ row: Row) throws -> Bool {
        try intact {
            try verify(row, of: .refreshToken)
            return isSession(row, try openMembers(row, of: .refreshToken, 1))
        } ?? true
    }

    /// The same for a row that opened, with its further members.
    private func isSession(_ row: Row, _ extra: JSONValue.Object) -> Bool {
        !Self.foreignTypes.contains(row.text(SealedTable.refreshToken["credential_type"]).folded)
            && TokenVariant(of: extra).isOrdinary
    }

    /// Whether the refresh token of a row is the person's session, as far as it can be told without a key.
    func isOrdinaryRefreshToken(_ row: Int64, account: Int64) throws -> Bool {
        guard !isWithoutKey else { return true }
        return try connection.first(Self.rowOfRefreshToken, .integer(row), .integer(account)) { try isOrdinary($0) }
            ?? false
    }

    /// Replaces the token in row `id` and drops every copy of the old one, whatever its data key.
    ///
    /// Of a row that was altered nothing is taken over. One of another account or client, or one that is no session,
    /// which an index named to a sign-in, stays, and the token gets a row of its own: it is not to be had again.
    func rotateRefreshToken(
        _ id: Int64,
        to token: RefreshTokenRow,
        account: Int64,
        isSignIn: Bool = false
    ) throws {
        var replacement = token
        let replaced = try connection.first(Self.rowOfRefreshToken, .integer(id), .integer(account)) {
            row -> (secret: Secret?, generation: Int64)? in
            let generation = row.integer(SealedTable.refreshToken["generation"])
            let intact = try intact { (try open(row, of: .refreshToken), try openMembers(row, of: .refreshToken, 1)) }
            guard let (secret, extra) = intact else { return (nil, max(0, generation)) }
            let isMeant = Self.isUsable(row, by: token.clientID.folded, family: token.familyID)
            guard isMeant, !isSignIn || isSession(row, extra) else { return nil }
            replacement.extra = extra.merging(token.extra)
            if isSignIn {
                replacement.declinedScope = token.declinedScope
                replacement.resource = token.resource
                replacement.signInNonces = []
            }
            // A sign-in's token is the client's in the letters that it was asked in, as an issuer compares them; that of
            // a family stays with the client that it was.
            if !isSignIn || row.text(SealedTable.refreshToken["client_fold"]) != token.clientID.folded {
                replacement.clientID = row.text(SealedTable.refreshToken["client_id"])
            }
            replacement.target = token.target ?? row.optionalText(SealedTable.refreshToken["target"])
            replacement.environment = row.text(SealedTable.refreshToken["environment"])
            return (secret, generation)
        }
        guard let (secret, generation) = replaced ?? nil else {
            return try insertRefreshToken(token, account: account)
        }
        if let secret { try deleteRefreshTokens(secret, account: account, besides: id) }
        try writeRefreshToken(replacement, account: account, id: id, generation: generation &+ 1)
    }

    static let rowOfRefreshToken = SQL(SealedTable.refreshToken.selection + "WHERE t.id = ?1 AND t.account_id = ?2")
    static let refreshTokensOfAccount = SQL(SealedTable.refreshToken.selection + "WHERE t.account_id = ?1")

    /// Fingerprints do not help here: they differ between data keys, and the file may be altered.
    private func deleteRefreshTokens(_ secret: Secret, account: Int64, besides id: Int64) throws {
        let copies = try connection.all(Self.refreshTokensOfAccount, .integer(account)) { row -> Int64? in
            guard row.integer(0) != id else { return nil }
            return try intact { try open(row, of: .refreshToken) } == secret ? row.integer(0) : nil
        }
        for case let copy? in copies { try deleteRefreshToken(copy, account: account) }
    }

    func deleteRefreshToken(_ row: Int64, account: Int64) throws {
        try connection.run(
            "DELETE FROM refresh_token WHERE id = ?1 AND account_id = ?2",
            .integer(row),
            .integer(account)
        )
    }

    /// Whether a row is a client's own or its family's; the client is folded.
    ///
    /// An index of a file may have said so of another row.
    private static func isUsable(_ row: Row, by client: String, family: String?) -> Bool {
        let table = SealedTable.refreshToken
        return row.text(table["client_fold"]) == client
            || family != nil && row.optionalText(table["family_id"]) == family
    }

    /// The refresh tokens of an account that `client` may use: its own before those of its family, newest first.
    ///
    /// Those that are not the person's session come along only `withOthers`: a sign-out ends them too.
    ///
    /// A token that cannot be opened is an error here: "damaged" must not read as "there is none". So is an account
    /// whose row was altered, as that says where the token is sent.
    func refreshTokens(
        of id: Account.ID,
        client: String,
        family: String?,
        withOthers: Bool = true,
        leavingOutDamaged: Bool = false
    ) throws -> [StoredRefreshToken] {
        let table = SealedTable.refreshToken
        let fold = client.folded
        let own: [Value] = [.text(id.key), .text(id.issuer), .text(fold)]
        let values = self.values(own + (family.map { [.text($0)] } ?? []), of: id)
        let rows = family == nil ? Self.ownRefreshTokens : Self.usableRefreshTokens
        let tokens = try connection.all(rows, values) { row -> StoredRefreshToken? in
            let secret = try leavingOutDamaged ? intact { try open(row, of: table) } : open(row, of: table)
            guard let secret, Self.isUsable(row, by: fold, family: family) else { return nil }
            // What says that it is no session is not to be taken away by damage.
            let further: JSONValue.Object? =
                try withOthers
                ? intact { try openMembers(row, of: table, 1) } : openMembers(row, of: table, 1)
            let extra = further ?? JSONValue.Object()
            guard withOthers || isSession(row, extra) else { return nil }
            return StoredRefreshToken(
                secret: secret,
                clientID: row.text(table["client_id"]),
                familyID: row.optionalText(table["family_id"]),
                account: id,
                modifiedAt: row.integer(table["modified_at"]) == 0 ? nil : row.date(table["modified_at"]),
                scope: row.optionalText(table["target"]).map { Scope($0) },
                declinedScope: RefreshTokenRow.declinedScope(in: extra),
                resource: RefreshTokenRow.resource(in: extra),
                signInNonces: RefreshTokenRow.signInNonces(in: extra),
                rowID: row.integer(0),
                generation: row.integer(table["generation"])
            )
        }.compactMap(\.self)
        if !tokens.isEmpty { try verifyAccount(id) }
        return tokens
    }

    func deleteRefreshTokens(of account: Int64, client: String) throws {
        let sql: StaticString = "DELETE FROM refresh_token WHERE account_id = ?1 AND client_fold = ?2"
        try connection.run(sql, .integer(account), .text(client.folded))
    }

    /// Removes exactly `token`; false if its row holds another one by now.
    func deleteRefreshToken(_ token: StoredRefreshToken) throws -> Bool {
        guard let account = try accountRow(token.account), try isCurrent(token) else { return false }
        try deleteRefreshToken(token.rowID, account: account)
        return true
    }

    /// Whether row `token.rowID` still holds exactly `token`, and not one that was altered since.
    func isCurrent(_ token: StoredRefreshToken) throws -> Bool {
        try connection.first(Self.rowOfToken, identity(of: token)) { row in
            try intact { try open(row, of: .refreshToken) } == token.secret
        } ?? false
    }

    /// Whether the answer to a refresh with `token` takes its place: unless another token is there by now.
    ///
    /// A row that was altered meanwhile holds nothing that could be used again.
    func isReplaceable(_ token: StoredRefreshToken) throws -> Bool {
        try connection.first(Self.rowOfToken, identity(of: token)) { row in
            try intact { try open(row, of: .refreshToken) == token.secret || isOlder(row, than: token) } ?? true
        } ?? false
    }

    /// Whether a row, which is intact, has an older token of the same client than the one that an answer was given for:
    /// a backup took the place of the store while the answer was under way, or waited.
    private func isOlder(_ row: Row, than token: StoredRefreshToken) -> Bool {
        let table = SealedTable.refreshToken
        guard isOlderThanAnswer, row.text(table["client_fold"]) == token.clientID.folded else { return false }
        let stored = row.integer(table["modified_at"])
        // What a sign-in or a refresh has stored since the backup was restored is later than the token that was sent;
        // of that no time is known where an import brought none, or a program of before has put the answer into a file.
        if let sent = token.modifiedAt?.unixSeconds, stored > sent { return false }
        return row.integer(table["generation"]) < token.generation && stored < now
    }

    private static let rowOfToken = SealedTable.refreshToken.ownedRows { dialect in
        """
        WHERE t.id = ?3
            AND \(dialect.account("a", key: "?1", authority: "?2", rows: 4, owners: ["t.account_id"]))
        """
    }

    private func identity(of token: StoredRefreshToken) -> [Value] {
        values(.text(token.account.key), .text(token.account.issuer), .integer(token.rowID), of: token.account)
    }
}
