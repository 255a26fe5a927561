public import OAuth
import SQLite

extension TokenStore {
    /// What the store has for `query`: a token that is good to use, refresh tokens to get one with, or neither.
    ///
    /// Nothing is written. An access token is handed out only while it is good for longer than the query's buffer.
    ///
    /// - Throws: ``TokenStoreError/invalidArgument(_:)`` if the scope is empty,
    ///   ``TokenStoreError/policyMismatch(requested:account:)`` if the account signed in with another user flow.
    public func cachedToken(for query: TokenQuery) throws -> CachedToken {
        // Microsoft's access tokens are each for one API, which OpenID's scopes do not name.
        guard !query.scope.isEmpty || query.account.hasIssuer && !query.scope.tokens.isEmpty else {
            throw TokenStoreError.invalidArgument("no scope of an API was asked for; name at least one")
        }
        guard let version = try dataVersion() else { return try storedToken(for: query) }
        return try opened.token(for: query, at: options.seconds, version: version) { try storedToken(for: query) }
    }

    /// The scope that the account has signed in to `client` for, as far as its tokens tell.
    package func sessionScope(of account: Account.ID, client: String) throws -> Scope? {
        let granted = try refreshTokens(of: account, client: client).lazy.compactMap(\.scope)
        if let scope = granted.first(where: { !$0.tokens.isEmpty }) { return scope }
        let query = TokenQuery(account: account, clientID: client, scope: Scope([]))
        return try newestAccessToken(for: query)?.token.scope
    }

    /// A token of the account and client whatever its scope: one for no API in particular before others, then the newest.
    package func newestAccessToken(for query: TokenQuery) throws -> (token: AccessToken, isUsable: Bool)? {
        try read { session in try session.connection.read { try session.newestAccessToken(query) } }
    }

    /// What the file has for `query`, opened anew.
    package func storedToken(for query: TokenQuery) throws -> CachedToken {
        try read { session in
            guard let policy = query.authority?.policy else { return try session.cachedToken(query) }
            return try session.connection.read {
                try session.requirePolicy(policy, of: query.account)
                return try session.cachedToken(query)
            }
        }
    }

    /// The clients that have tokens of an account.
    package func clientIDs(of account: Account.ID) throws -> [String] {
        try read { session in
            try session.connection.read { try session.accountRow(account).map { try session.clientIDs($0) } ?? [] }
        }
    }

    /// The refresh tokens of an account that `client` may use, its own before its family's, newest first.
    public func refreshTokens(of account: Account.ID, client: String, family: String? = nil) throws -> [RefreshToken] {
        try read { session in try session.refreshTokens(of: account, client: client, family: family) }
    }

    /// Removes exactly `token`, as the issuer has refused it.
    ///
    /// - Returns: false if another one is in its place by now, which stays.
    @discardableResult
    public func removeRefreshToken(_ token: RefreshToken) throws -> Bool {
        try write { session in
            guard try session.deleteRefreshToken(token) else { return false }
            try session.record(
                .refused,
                outcome: "removed",
                account: token.account,
                client: token.clientID,
                refreshToken: token.secret
            )
            return true
        }
    }
}

extension StoreSession {
    func requirePolicy(_ policy: String, of id: Account.ID) throws {
        guard let row = try accountRow(id), let account = try account(row), let own = account.policy else { return }
        guard own == policy else { throw TokenStoreError.policyMismatch(requested: policy, account: own) }
    }
}
