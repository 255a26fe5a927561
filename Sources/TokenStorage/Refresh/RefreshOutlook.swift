import Database
package import OAuth
import SQL

/// What a server has for a request, as far as a few short questions tell.
///
/// When a token ends, many processes ask for the next one at once. Most of them only wait for the one that refreshes it,
/// and need not know what it needs: the tokens to send, earlier uses of them, and the key that they are bound to.
package enum RefreshOutlook: Sendable {
    /// A token is good to use, and not worth refreshing yet.
    case usable(AccessToken)

    /// There is none, and nothing speaks against a refresh: whoever has the right to it looks at the rest.
    case refreshable(isUnderWay: Bool)

    /// ``StoreReading/silentState(for:at:)`` says more.
    case unclear
}

extension TokenStore {
    /// What a server has for an ordinary query: one for the account's own authority, and a bearer token.
    ///
    /// A file is asked for everything at once, which costs little there, and the answer is ``RefreshOutlook/unclear``.
    package func refreshOutlook(for query: TokenQuery) throws -> RefreshOutlook {
        guard location.path == nil else { return .unclear }
        let found = try remembering(query) { try read { try $0.unboundToken(query) } }
        if case .usable(let token, let isAging) = found { return isAging ? .unclear : .usable(token) }
        return try read { try $0.refreshOutlook(query) }
    }
}

extension StoreConnection {
    fileprivate func refreshOutlook(_ query: TokenQuery) throws -> RefreshOutlook {
        let subject = RefreshLock.Subject.client(query.clientID).name
        guard let lease = try lease(of: query.account, subject) else { return .unclear }
        if lease.look == .held {
            // Who has the lease has looked at all the rest. But a token that is bound to a key may be good to use.
            let isBound = try isBound(lease.account, client: query.clientID)
            return isBound ? .unclear : .refreshable(isUnderWay: true)
        }
        let isPlain = try connection.integer(Self.plainToken, .integer(lease.account), .text(subject)) != nil
        return isPlain ? .refreshable(isUnderWay: false) : .unclear
    }

    /// Finds a refresh token that the client has of its own, where nothing forbids its use or binds it to a key.
    ///
    /// A sign-out leaves none.
    private static let plainToken = SQL(
        """
        SELECT 1 FROM refresh_token r WHERE r.account_id = ?1 AND r.client_fold = ?2
            AND NOT EXISTS (SELECT 1 FROM throttle t WHERE t.account_id = ?1 AND t.client_fold = ?2)
            AND NOT EXISTS (SELECT 1 FROM refresh_attempt t WHERE t.account_id = ?1)
            AND NOT EXISTS (SELECT 1 FROM dpop_key t WHERE t.account_id = ?1 AND t.client_fold = ?2)
        LIMIT 1
        """
    )
}
