public import OAuth

extension TokenStore {
    /// Stores a whole token response in one commit: account, claims, refresh token and access token, or nothing.
    ///
    /// When this returns, the tokens are on disk; hand out the access token only then.
    ///
    /// - Throws: ``TokenStoreError/notStored(_:reason:)`` with the response, if it could not be stored.
    @discardableResult
    public func save(_ response: TokenResponse, for request: TokenRequest) throws -> SavedTokens {
        try keeping(response) { try write { session in try session.save(response, for: request) } }
    }

    /// Stores the answer to a refresh with `used` in one commit.
    ///
    /// A sign-out that came first wins: the answer is discarded. So does a refresh token that another process stored
    /// first: the answer's is dropped, its access token stored.
    ///
    /// - Throws: ``TokenStoreError/notStored(_:reason:)`` with the response, if it could not be stored,
    ///   ``TokenStoreError/otherAccount(_:)`` if it names another account.
    @discardableResult
    public func save(
        _ response: TokenResponse,
        for request: TokenRequest,
        refreshing used: RefreshToken
    ) throws -> SavedTokens {
        try keeping(response) {
            try write { session in try session.save(response, for: request, refreshing: used) }
        }
    }

    private func keeping(_ response: TokenResponse, _ body: () throws -> SavedTokens) throws -> SavedTokens {
        do {
            return try body()
        } catch is MismatchedAccount {
            throw TokenStoreError.otherAccount(response)
        } catch {
            throw TokenStoreError.notStored(response, reason: "\(error)")
        }
    }
}
