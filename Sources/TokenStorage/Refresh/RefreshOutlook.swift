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

    /// There is none, and nothing speaks against a refresh: the process that has the right to it looks at the rest.
    case refreshable(isUnderWay: Bool)

    /// All that the store knows has to be looked at; a token that is good to use may be there.
    case unclear(mayHaveToken: Bool)
}

extension TokenStore {
    /// What a server has for an ordinary query: one for the account's own authority, and a bearer token.
    ///
    /// A file is asked for everything at once, which costs little there: its answer is
    /// ``RefreshOutlook/unclear(mayHaveToken:)``.
    package func refreshOutlook(for query: TokenQuery) throws -> RefreshOutlook {
        guard location.path == nil else { return .unclear(mayHaveToken: true) }
        let found = try remembering(query) { try read { try $0.unboundToken(query) } }
        // One that is worth refreshing is looked at with all the rest.
        if case .usable(let token, let isAging) = found {
            return isAging ? .unclear(mayHaveToken: false) : .usable(token)
        }
        return try read { try $0.refreshOutlook(query) }
    }
}

extension StoreConnection {
    fileprivate func refreshOutlook(_ query: TokenQuery) throws -> RefreshOutlook {
        let subject = RefreshLock.Subject.client(query.clientID).name
        guard let lease = try lease(of: query.account, subject) else { return .unclear(mayHaveToken: true) }
        let isHeld = lease.look == .held
        let values: [Value] = [.integer(lease.account), .text(subject), .integer(isHeld ? 1 : 0)]
        let isPlain = try connection.first(Self.plainToken, values) { _ in true } ?? false
        // One that is bound to a key may be good to use.
        return isPlain ? .refreshable(isUnderWay: isHeld) : .unclear(mayHaveToken: true)
    }

    /// Finds a refresh token that the client has of its own, where nothing forbids its use or binds it to a key.
    ///
    /// Where another has the lease (?3 is 1) a use that is noted is that one's. Whether what is found was altered is for
    /// the whole decision.
    private static let plainToken = SQL(
        """
        SELECT 1 FROM refresh_token r WHERE r.account_id = ?1 AND r.client_fold = ?2
            AND NOT EXISTS (
                SELECT 1 FROM account_state t WHERE t.account_id = ?1 AND t.client_fold = ?2 AND t.state = 'signed_out'
            )
            AND NOT EXISTS (SELECT 1 FROM throttle t WHERE t.account_id = ?1 AND t.client_fold = ?2)
            AND NOT EXISTS (SELECT 1 FROM dpop_key t WHERE t.account_id = ?1 AND t.client_fold = ?2)
            AND (CAST(?3 AS bigint) = 1 OR NOT EXISTS (SELECT 1 FROM refresh_attempt t WHERE t.account_id = ?1))
        LIMIT 1
        """
    )
}
