import OAuth
import SQLite
import Sealing

extension StoreSession {
    /// What the store has for `query`.
    func cachedToken(_ query: TokenQuery) throws -> CachedToken {
        if let authority = query.authority, !authority.vouches(for: query.account) {
            return .signInRequired(.otherAuthority)
        }
        let (usable, isAging, extended) = try accessTokens(query)
        if let usable { return .usable(usable, isAging: isAging) }
        guard try signInState(of: query.account, client: query.clientID) != .signedOut else {
            return .signInRequired(.signedOut)
        }
        let tokens = try usableRefreshTokens(query)
        guard tokens.isEmpty else { return .refreshable(tokens, extended: extended) }
        try requireOpenableTokens(query)
        return .signInRequired(.noRefreshToken)
    }

    /// The best access token that is good to use, and the best that is good only while the issuer cannot be reached.
    func accessTokens(_ query: TokenQuery) throws -> (usable: AccessToken?, isAging: Bool, extended: AccessToken?) {
        var best: (candidate: AccessTokenCandidate, token: AccessToken)?
        var extended: (candidate: AccessTokenCandidate, token: AccessToken)?
        let (now, wanted) = (now, query.scope.foldedText)
        try forEachCandidate(query) { row in
            let candidate = AccessTokenCandidate(
                row,
                scope: wanted,
                acceptsDeclined: query.acceptsDeclined,
                buffer: query.buffer,
                now: now
            )
            guard let candidate else { return }
            if candidate.isUsable {
                guard best.map({ candidate.outranks($0.candidate) }) ?? true else { return }
                guard let token = try openCandidate(row, candidate, query.scope), query.scope.isMet(by: token.scope)
                else { return }
                best = (candidate, token)
            } else if let end = candidate.extendedExpiresOn, end > now {
                guard extended.map({ candidate.outranks($0.candidate) }) ?? true else { return }
                extended = try openCandidate(row, candidate, query.scope).map { (candidate, $0) }
            }
        }
        return (best?.token, best?.candidate.isAging ?? false, extended?.token)
    }

    /// An access token for no API in particular, else the newest one, and whether it is good to use.
    func newestAccessToken(_ query: TokenQuery) throws -> (token: AccessToken, isUsable: Bool)? {
        var best: (candidate: AccessTokenCandidate, token: AccessToken)?
        try forEachCandidate(query) { row in
            guard let candidate = AccessTokenCandidate(row, scope: "", buffer: query.buffer, now: now),
                best.map({ candidate.outranksForAny($0.candidate) }) ?? true,
                let token = try openCandidate(row, candidate, query.scope)
            else { return }
            best = (candidate, token)
        }
        return best.map { ($0.token, $0.candidate.isUsable) }
    }

    /// The refresh tokens that may get a token for `query`, in the order they are to be tried.
    func usableRefreshTokens(_ query: TokenQuery) throws -> [RefreshToken] {
        let environment = try connection.first(
            "SELECT environment FROM account WHERE home_account_fold = ?1 AND authority = ?2",
            .text(query.account.key),
            .text(query.account.authority)
        ) { $0.text(0) }
        let family: String? =
            switch try family(of: query.clientID, environment: environment ?? "") {
            case .unknown: "1"
            case .none: nil
            case .member(let family): family
            }
        return try refreshTokens(of: query.account, client: query.clientID, family: family)
    }

    /// The account comes first, so that the index finds its tokens.
    private static let candidates = SQL(
        SealedTable.accessToken.selection.replacing("LEFT JOIN", with: "JOIN") + """
            WHERE a.home_account_fold = ?1 AND a.authority = ?2 AND t.client_fold = ?3
                AND (?4 IS NULL OR t.realm_fold = ?4) AND t.token_type_fold = ?5 AND t.key_id = ?6 AND t.variant = ?7
            """
    )

    private static let state = SQL(
        SealedTable.accountState.selection.replacing("LEFT JOIN", with: "JOIN")
            + "WHERE a.home_account_fold = ?1 AND a.authority = ?2 AND t.client_fold = ?3"
    )

    /// Whether the account, which is stored, has signed out of the client; a state that was altered is an error.
    private func isSignedOut(_ query: TokenQuery) throws -> Bool {
        try connection.first(
            Self.state,
            .text(query.account.key),
            .text(query.account.authority),
            .text(query.clientID.folded)
        ) { row in
            try verify(row, of: .accountState)
            return row.text(SealedTable.accountState["state"]) == SignInState.signedOut.stored
        } ?? false
    }

    /// Calls `body` with each access token of the account, client, tenant, type, key and variant; a client that the
    /// account has signed out of has none.
    private func forEachCandidate(_ query: TokenQuery, _ body: (Row) throws -> Void) throws {
        guard try !isSignedOut(query) else { return }
        try connection.forEach(
            Self.candidates,
            .text(query.account.key),
            .text(query.account.authority),
            .text(query.clientID.folded),
            .optional(try tenant(query)),
            .text(StoredAccessToken.fold(tokenType: query.tokenType)),
            .text(query.keyID ?? ""),
            .text(query.requestedClaims == nil ? "" : TokenVariant(requestedClaims: query.requestedClaims).text),
            body: body
        )
    }

    /// Makes sure that "no token" is not the sight of tokens that were altered.
    func requireOpenableTokens(_ query: TokenQuery) throws {
        try forEachCandidate(query) { row in
            guard AccessTokenCandidate(row, scope: query.scope.foldedText, buffer: query.buffer, now: now) != nil
            else { return }
            _ = try open(row, of: .accessToken)
        }
    }

    /// The token of a row; nil if it cannot be opened: a damaged access token is one that has to be fetched anew.
    private func openCandidate(
        _ row: Row,
        _ candidate: AccessTokenCandidate,
        _ asked: Scope
    ) throws -> AccessToken? {
        guard let secret = try intact({ try open(row, of: .accessToken) }) else { return nil }
        var token = AccessToken(
            secret: secret,
            clientID: row.text(AccessTokenColumn.clientID),
            target: row.text(AccessTokenColumn.target),
            tokenType: row.isEmpty(AccessTokenColumn.tokenType) ? "Bearer" : row.text(AccessTokenColumn.tokenType),
            keyID: row.isEmpty(AccessTokenColumn.keyID) ? nil : row.text(AccessTokenColumn.keyID),
            realm: row.text(AccessTokenColumn.realm),
            cachedAt: row.optionalDate(AccessTokenColumn.cachedAt),
            expiresAt: row.date(AccessTokenColumn.expiresOn),
            extendedExpiresAt: row.optionalDate(AccessTokenColumn.extendedExpiresOn),
            refreshAt: row.optionalDate(AccessTokenColumn.refreshOn)
        )
        // An earlier version took in what no terminal and no header is to meet.
        guard token.isPrintable else { return nil }
        if candidate.isDeclined { token.declinedScope = asked.missing(from: token.scope) }
        return token
    }
}
