public import OAuth

extension TokenStore {
    /// Stores a whole token response in one commit: account, claims, refresh token and access token, or nothing.
    ///
    /// When this returns, the tokens are on disk; hand out the access token only then. A response that the store cannot
    /// take is put, sealed, into a file beside it: ``SavedTokens/Outcome/pending(reason:)``.
    ///
    /// - Throws: ``TokenStoreError/notStored(_:reason:)`` with the response, if neither was possible.
    @discardableResult
    public func save(_ response: TokenResponse, for request: TokenRequest) throws -> SavedTokens {
        try save(response, for: request, in: nil)
    }

    /// Stores the answer to a refresh with `used` in one commit.
    ///
    /// A sign-out that came first wins: the answer is discarded. So does a refresh token that another process stored
    /// first: the answer's is dropped, its access token stored.
    ///
    /// - Throws: ``TokenStoreError/notStored(_:reason:)`` with the response, if it could not be stored at all,
    ///   ``TokenStoreError/otherAccount(_:)`` if it names another account.
    @discardableResult
    public func save(
        _ response: TokenResponse,
        for request: TokenRequest,
        refreshing used: RefreshToken
    ) throws -> SavedTokens {
        try save(response, for: request, refreshing: used, in: nil)
    }

    /// Stores a response in room that was taken before its request was sent.
    @discardableResult
    package func save(
        _ response: TokenResponse,
        for request: TokenRequest,
        refreshing used: RefreshToken? = nil,
        in space: AnswerSpace?
    ) throws -> SavedTokens {
        let answer = PendingAnswer(
            response: response,
            request: request,
            used: used,
            receivedAt: options.seconds
        )
        return try keep(answer, in: space)
    }
}
