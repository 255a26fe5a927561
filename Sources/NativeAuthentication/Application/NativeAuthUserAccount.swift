public import OAuth
public import TokenManagement
import TokenStorage

/// A person who is signed in (MSAL's `MSALNativeAuthUserAccountResult`).
public final class NativeAuthUserAccount: Sendable {
    let application: NativeAuthPublicClientApplication
    private let current: Guarded<(account: Account, idToken: IDToken)>

    /// What the sign-in asked for.
    let signInScope: Scope

    init(application: NativeAuthPublicClientApplication, account: Account, idToken: IDToken, scope: Scope) {
        self.application = application
        current = Guarded((account, idToken))
        signInScope = scope
    }

    public var account: Account { current.withLock(\.account) }

    /// The newest ID token.
    public var idToken: IDToken { current.withLock(\.idToken) }

    /// What the issuer says of the person, custom attributes and claims by their configured names among it.
    public var accountClaims: Claims { idToken.claims }

    /// An access token that is good to use, from the store or by one refresh; nobody is asked.
    ///
    /// Tokens for several APIs are kept side by side. Without a scope it is the token of the sign-in, else the newest.
    public func accessToken(
        for scope: Scope = Scope([]),
        forcesRefresh: Bool = false,
        claims: JSON? = nil
    ) async throws(RetrieveAccessTokenError) -> TokenResult {
        let retrieval = TokenRetrieval(application: application, account: account, signInScope: signInScope)
        let result = try await retrieval.token(scope, forcesRefresh: forcesRefresh, claims: claims)
        if let idToken = result.idToken { try retrieval.reload(idToken).map(replace) }
        return result
    }

    /// Calls a web API with tokens of the account.
    public func transport(to api: WebAPI) -> AuthorizedTransport {
        AuthorizedTransport(
            api,
            account: account.id,
            manager: application.manager,
            transport: application.transport
        )
    }

    /// Removes everything that this client knows of the account from this machine, and ends the session at the issuer
    /// if it is to.
    ///
    /// Doing it twice is no error.
    ///
    /// - Throws: `TokenStoreError`.
    @discardableResult
    public func signOut(atIssuer isGlobal: Bool = false) async throws -> SignOutReport {
        try await application.manager.signOut(account.id, locally: !isGlobal)
    }

    private func replace(_ newer: (account: Account, idToken: IDToken)) { current.withLock { $0 = newer } }
}
