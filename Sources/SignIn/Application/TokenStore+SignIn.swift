import OAuth
import TokenManagement
public import TokenStorage

extension TokenStore {
    /// Stores the tokens of a sign-in in one commit.
    ///
    /// - Throws: `TokenStoreError.notStored(_:reason:)` with the response, if it could not be stored.
    public func keep(_ tokens: SignedInTokens) throws -> AuthenticationResult {
        let saved = try save(tokens.response, for: tokens.request, in: tokens.space)
        var reason: String?
        if case .pending(let why) = saved.outcome { reason = why }
        guard let account = try saved.described ?? saved.account.flatMap({ try account($0) }) else {
            throw SignInError.noIDToken
        }
        return AuthenticationResult(
            accessToken: saved.accessToken,
            account: account,
            idToken: tokens.idToken,
            authority: tokens.request.authority,
            source: .signIn,
            declinedScope: saved.declinedScope,
            pendingReason: reason
        )
    }
}
