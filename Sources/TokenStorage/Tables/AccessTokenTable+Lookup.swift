import Database
import OAuth
import SQL
import Sealing

extension StoreConnection {
    /// Each token that may have the scope, followed by the account's sign-in state at the client.
    ///
    /// A token that cannot have the scope is passed over before its columns are read, and a column that has to equal a
    /// parameter is not read at all.
    private static let candidates = SQL(selecting: columns(owner: "a.id", key: "?8", authority: "?9")) { dialect in
        """
        FROM account a JOIN access_token t ON t.account_id = a.id
        LEFT JOIN account_state s ON s.account_id = a.id AND s.client_fold = ?1\(dialect.owned("s.account_id", rows: 10))
        WHERE \(dialect.account("a", key: "?8", authority: "?9", rows: 10, owners: ["t.account_id"]))
            AND t.client_fold = ?1 AND \(isCandidate(dialect))
        """
    }

    /// Those of the row that the account is the likeliest to have, which a server finds faster.
    ///
    /// Whether it is the account's is not asked: what is another's does not open.
    private static let likeliest = SQL(selecting: columns(owner: "?8", key: "?9", authority: "?10")) { dialect in
        "\(origin(account: "?8")) AND \(isCandidate(dialect))"
    }

    /// The same of bearer tokens of a tenant that are for nothing in particular, as most lookups want one: what all of
    /// these have is not sent along.
    private static let likeliestOrdinary = SQL(
        selecting: columns(
            owner: "?4",
            key: "?5",
            authority: "?6",
            equal: [
                "client_fold": "?1", "realm_fold": "?2", "token_type_fold": "?7", "key_id": "?8", "variant": "?8",
            ]
        )
    ) { dialect in
        """
        \(origin(account: "?4"))
            AND t.realm_fold = ?2 AND t.token_type_fold = 'bearer' AND t.key_id = '' AND t.variant = ''
            AND \(dialect.text("t.scope_fold", contains: "?3"))
        """
    }

    private static func origin(account: String) -> String {
        """
        FROM access_token t
        LEFT JOIN account_state s ON s.account_id = t.account_id AND s.client_fold = ?1
        WHERE t.account_id = \(account) AND t.client_fold = ?1
        """
    }

    private static func columns(
        owner: String,
        key: String,
        authority: String,
        equal: [String: String] = parameters
    ) -> [String] {
        func columns(_ table: SealedTable, _ alias: String) -> [String] {
            let equal = equal.filter { table.clear.contains($0.key) }
            return table.columns(of: alias, owner: owner, authority: authority, key: key, equal: equal)
        }
        return columns(.accessToken, "t") + columns(.accountState, "s")
    }

    private static func isCandidate(_ dialect: Dialect) -> String {
        // On a file a parameter that is absent spares the column; a server cannot tell the type of one that stands
        // alone.
        let (realm, asked) =
            switch dialect {
            case .sqlite: ("(?2 IS NULL OR t.realm_fold = ?2)", "?7 IS NOT NULL AND t.asked_fold = ?7")
            case .postgreSQL: ("t.realm_fold = coalesce(?2, t.realm_fold)", "t.asked_fold = ?7")
            }
        return """
            \(realm) AND t.token_type_fold = ?3 AND t.key_id = ?4 AND t.variant = ?5
                AND (\(dialect.text("t.scope_fold", contains: "?6")) OR \(asked))
            """
    }

    private static let parameters = [
        "client_fold": "?1", "realm_fold": "coalesce(?2, t.realm_fold)", "token_type_fold": "?3", "key_id": "?4",
        "variant": "?5",
    ]

    private static let stateStart = SealedTable.accessToken.end
    private static let state = stateStart + SealedTable.accountState["state"]

    /// Whether the account of a row has signed out; a state that was altered is an error.
    private func isSignedOut(_ row: Row) throws -> Bool {
        guard !row.isNull(Self.stateStart) else { return false }
        try verify(row, of: .accountState, from: Self.stateStart)
        return row.text(Self.state) == SignInState.signedOut.stored
    }

    /// Calls `body` with each access token of the account, client, tenant, type, key and variant that may have `scope`,
    /// a `Scope.foldedText`, or was given for just that; a client that the account has signed out of has none.
    ///
    /// `body` returns whether it opened the row. On a server it may first be called with rows of another account, which
    /// do not open.
    func forEachCandidate(
        _ query: TokenQuery,
        scope: String,
        acceptsDeclined: Bool = false,
        _ body: (Row) throws -> Bool
    ) throws {
        var isSignedOut: Bool?
        if connection.isServer {
            var (isItsOwn, isAltered) = (false, false)
            let question = try likeliestQuestion(query, scope, acceptsDeclined)
            try connection.forEach(question.statement, question.values) { row in
                let isOpened = try intact { try visit(row, isSignedOut: &isSignedOut, body) }
                isAltered = isAltered || isOpened == nil
                // One that has ended, or is for another scope, is not opened, and tells whose the row is all the same.
                isItsOwn = try isItsOwn || isOpened ?? false || intact { try open(row, of: .accessToken) } != nil
            }
            // What `body` says of an altered row is the answer beside intact ones too: the second statement throws it.
            guard !isItsOwn || isAltered else { return }
            isSignedOut = nil
        }
        let identity: [Value] = [.text(query.account.key), .text(query.account.issuer)]
        let values = try values(candidateValues(query, scope, acceptsDeclined) + identity, of: query.account)
        try connection.forEach(Self.candidates, values) { row in _ = try visit(row, isSignedOut: &isSignedOut, body) }
    }

    /// Asks a server what ``forEachCandidate(_:scope:acceptsDeclined:_:)`` will ask first.
    func askAheadForCandidates(_ query: TokenQuery, scope: String, acceptsDeclined: Bool) throws {
        let question = try likeliestQuestion(query, scope, acceptsDeclined)
        try connection.askAhead(question.statement, question.values)
    }

    private func likeliestQuestion(
        _ query: TokenQuery,
        _ scope: String,
        _ acceptsDeclined: Bool
    ) throws -> (statement: SQL, values: [Value]) {
        let (row, key) = (AccountRowID.first(query.account, mask: options.accountRowMask), query.account.key)
        guard query.isOrdinary, !acceptsDeclined, !Self.asksForDefault(scope), let tenant = try tenant(query) else {
            let account: [Value] = [.integer(row), .text(key), .text(query.account.issuer)]
            return (Self.likeliest, try candidateValues(query, scope, acceptsDeclined) + account)
        }
        let values: [Value] = [
            .text(query.clientID.folded), .text(tenant), .text(Self.firstToken(of: scope)), .integer(row), .text(key),
            .text(query.account.issuer), .text("bearer"), .text(""),
        ]
        return (Self.likeliestOrdinary, values)
    }

    private func candidateValues(_ query: TokenQuery, _ scope: String, _ acceptsDeclined: Bool) throws -> [Value] {
        let tenant = try tenant(query)
        return [
            .text(query.clientID.folded),
            .optional(tenant),
            .text(AccessTokenRow.fold(tokenType: query.tokenType)),
            .text(query.keyID ?? ""),
            .text(query.requestedClaims == nil ? "" : TokenVariant(requestedClaims: query.requestedClaims).text),
            .text(Self.firstToken(of: scope)),
            // What was granted for `.default` has other names.
            .optional(acceptsDeclined || Self.asksForDefault(scope) ? scope : nil),
        ]
    }

    /// Calls `body` with a row unless its account has signed out, which is read of the first row for all of them.
    private func visit(_ row: Row, isSignedOut: inout Bool?, _ body: (Row) throws -> Bool) throws -> Bool {
        let signedOut = try isSignedOut ?? self.isSignedOut(row)
        isSignedOut = signedOut
        return try signedOut || body(row)
    }

    /// Whether `scope` has `/.default`; over the bytes, as each lookup asks this.
    private static func asksForDefault(_ scope: String) -> Bool {
        var scope = scope
        return scope.withUTF8 { bytes in
            // A dot behind a slash is rare, and the comparison of sequences slow.
            bytes.indices.dropLast().contains {
                bytes[$0] == UInt8(ascii: "/") && bytes[$0 + 1] == UInt8(ascii: ".")
                    && bytes[$0...].starts(with: "/.default".utf8)
            }
        }
    }

    /// Over the bytes, as each lookup asks this.
    private static func firstToken(of scope: String) -> String {
        var scope = scope
        let first = scope.withUTF8 { bytes in
            bytes.firstIndex(of: UInt8(ascii: " ")).map { String(decoding: bytes[..<$0], as: UTF8.self) }
        }
        return first ?? scope
    }

    /// The token of a row; nil if it cannot be opened: a damaged access token is one that has to be fetched anew.
    func openCandidate(_ row: Row, _ candidate: AccessTokenCandidate, _ asked: Scope) throws -> AccessToken? {
        guard let secret = try intact({ try open(row, of: .accessToken) }) else { return nil }
        let type = row.isEmpty(AccessTokenColumn.tokenType) ? "Bearer" : row.text(AccessTokenColumn.tokenType)
        // An earlier version took in what no terminal and no header is to meet.
        guard AccessToken.isPrintable(secret, type: type) else { return nil }
        var token = AccessToken(
            secret: secret,
            clientID: row.text(AccessTokenColumn.clientID),
            target: row.text(AccessTokenColumn.target),
            tokenType: type,
            keyID: row.isEmpty(AccessTokenColumn.keyID) ? nil : row.text(AccessTokenColumn.keyID),
            tenantID: row.text(AccessTokenColumn.realm),
            cachedAt: row.optionalDate(AccessTokenColumn.cachedAt),
            expiresAt: row.date(AccessTokenColumn.expiresOn),
            extendedExpiresAt: row.optionalDate(AccessTokenColumn.extendedExpiresOn),
            refreshAt: row.optionalDate(AccessTokenColumn.refreshOn)
        )
        if candidate.isDeclined { token.declinedScope = asked.missing(from: token.scope) }
        return token
    }
}

extension TokenQuery {
    /// Whether a bearer token is wanted that is bound to no key and was minted for no claims.
    fileprivate var isOrdinary: Bool {
        keyID == nil && requestedClaims == nil && AccessTokenRow.fold(tokenType: tokenType) == "bearer"
    }
}

// MARK: - Lists

extension StoreConnection {
    private static let summaries = SQL(
        """
        SELECT client_id, target, token_type, cached_at, expires_on, refresh_on FROM access_token
        WHERE account_id = ?1 ORDER BY client_fold, scope_fold, id
        """
    )

    func askAheadForTokenSummaries(_ account: Int64) throws {
        try connection.askAhead(Self.summaries, .integer(account))
    }

    func tokenSummaries(_ account: Int64) throws -> [AccessTokenSummary] {
        try connection.all(Self.summaries, .integer(account)) { row in
            let (cachedAt, expiresOn, refreshOn) = (row.optionalInteger(3), row.integer(4), row.optionalInteger(5))
            return AccessTokenSummary(
                clientID: row.text(0),
                scopes: Scope(row.text(1)).tokens,
                tokenType: row.text(2).isEmpty ? "Bearer" : row.text(2),
                state: TokenState(expiresOn: expiresOn, cachedAt: cachedAt, refreshOn: refreshOn, at: now),
                cachedAt: row.optionalDate(3),
                expiresAt: row.date(4),
                refreshAt: row.optionalDate(5)
            )
        }
    }
}
