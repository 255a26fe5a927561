import OAuth
import TokenManagement
public import TokenStorage

extension TokenStore {
    /// Stores the tokens of a sign-in in one commit.
    ///
    /// - Throws: `TokenStoreError.notStored(_:reason:)` with the response, if it could not be stored.
    public func keep(_ tokens: SignedInTokens) throws -> AuthenticationResult {
        let saved = try save(tokens.response, for: tokens.request)
        guard let id = saved.account, let account = try account(id) else { throw SignInError.noIDToken }
        return AuthenticationResult(
            accessToken: saved.accessToken,
            account: account,
            idToken: tokens.idToken,
            authority: tokens.request.authority,
            source: .signIn,
            declinedScope: saved.declinedScope
        )
    }
}
