import Database
package import OAuth

extension StoreReading {
    /// All that decides a request for an access token, from one moment; nil where the account is not stored.
    ///
    /// - Throws: as ``cachedToken(for:)``, and what `authority` throws, which says where the account is refreshed, or nil
    ///   where nothing tells.
    package func silentState(
        for query: TokenQuery,
        at authority: (Account) throws -> Authority?
    ) throws -> SilentState? {
        try read { session in
            try session.connection.read {
                try session.askAheadForSilentState(query)
                guard let row = try session.confirmedAccountRow(query.account), let account = try session.account(row)
                else { return nil }
                if let userFlow = query.authority?.userFlow { try account.requireUserFlow(userFlow) }
                return try session.silentState(query, of: account, row: row, at: try authority(account))
            }
        }
    }
}

extension StoreConnection {
    /// Asks a server what ``silentState(_:of:row:at:)`` will ask, as far as that does not depend on an answer.
    ///
    /// The account is taken to be in the likeliest of its rows.
    fileprivate func askAheadForSilentState(_ query: TokenQuery) throws {
        guard connection.isServer else { return }
        try askAheadForOwnRow(of: query.account)
        let row = AccountRowID.first(query.account, mask: options.accountRowMask)
        try askAheadForAccount(row)
        if query.authority?.vouches(for: query.account) ?? true { try askAheadForAccessTokens(query) }
        try askAheadForState(of: row, client: query.clientID)
    }

    fileprivate func silentState(
        _ query: TokenQuery,
        of account: Account,
        row: Int64,
        at authority: Authority?
    ) throws -> SilentState {
        let isForeign = query.authority.map { !$0.vouches(for: query.account) } ?? false
        let found = try isForeign ? FoundTokens() : accessTokens(query)
        let state = try signInState(of: row, client: query.clientID)
        let tokens =
            try state == .signedOut || isForeign ? [] : usableRefreshTokens(query, environment: account.environment)
        if found.usable == nil, tokens.isEmpty, state != .signedOut, !isForeign {
            try requireOpenableTokens(query)
            try requireAllTokensFound(of: [row])
        }
        return SilentState(
            authority: authority,
            usable: found.usable,
            isAging: found.isAging,
            extended: found.extended,
            signInState: state,
            isForeignAuthority: isForeign,
            candidates: try candidates(tokens, query, at: authority)
        )
    }

    /// The tokens with what is known about their use, which a server is asked for all of them at once.
    ///
    /// What is to wait is a request to an authority: without one there is none.
    private func candidates(
        _ tokens: [StoredRefreshToken],
        _ query: TokenQuery,
        at authority: Authority?
    ) throws -> [RefreshCandidate] {
        guard !tokens.isEmpty else { return [] }
        let keys = try tokens.map { token in
            try authority.map { try throttleKey(query, authority: $0.url, token: token) }
        }
        try askAheadForBoundKey(of: query.account, client: query.clientID)
        for (token, key) in zip(tokens, keys) {
            try askAheadForAttempt(token)
            if let key { try askAheadForThrottle(key, of: query.account) }
        }
        // From the same moment as the tokens: a sign-in replaces both.
        let bound = try boundKey(of: query.account, client: query.clientID)
        return try zip(tokens, keys).map { token, key in
            RefreshCandidate(
                token: token,
                key: token.clientID.folded == query.clientID.folded ? bound : nil,
                attempt: try attempt(token),
                throttle: try key.flatMap { try throttle($0, of: query.account) }
            )
        }
    }
}

/// All that the store knows about a request for an access token, from one moment.
package struct SilentState: Sendable {
    /// Where the tokens of the account are refreshed; nil where nothing tells.
    package let authority: Authority?

    /// A token that is good to use.
    package let usable: AccessToken?

    /// Whether that token is worth refreshing.
    package let isAging: Bool

    /// The last token, good only while the issuer cannot be reached.
    package let extended: AccessToken?

    package let signInState: SignInState

    /// Whether the authority that was asked for is not the one that vouches for the account.
    package let isForeignAuthority: Bool

    /// In the order they are to be tried.
    package private(set) var candidates: [RefreshCandidate]

    /// Lets requests through that the issuer has not asked to wait, and that were throttled before `start`; all of them
    /// where that is nil.
    package mutating func liftOwnThrottles(before start: Int64?) {
        for index in candidates.indices {
            guard let throttle = candidates[index].throttle, !throttle.isAskedFor else { continue }
            if let start, throttle.beganAt >= start { continue }
            candidates[index].throttle = nil
        }
    }
}

/// A refresh token that may be used for a request, and what is known about using it.
package struct RefreshCandidate: Sendable {
    package let token: StoredRefreshToken

    /// The DPoP key that the token is bound to, if it is.
    package let key: BoundKey?
    package let attempt: RefreshAttempt?

    /// Until when this very request with this very token is not to be repeated, if it is not.
    package fileprivate(set) var throttle: Throttle?
}
