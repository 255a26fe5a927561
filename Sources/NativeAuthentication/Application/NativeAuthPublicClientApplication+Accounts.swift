import Logging
import OAuth
public import SignIn
import TokenStorage

extension NativeAuthPublicClientApplication {
    /// The account that is signed in, with what is known of it; the network is not asked.
    ///
    /// Where several may be signed in it is the one last signed in or refreshed.
    ///
    /// - Returns: nil if nobody is signed in.
    /// - Throws: `TokenStoreError`.
    public func currentAccount() throws -> NativeAuthUserAccount? { try accounts().first }

    /// Every account that is signed in, the one last signed in or refreshed first.
    ///
    /// - Throws: `TokenStoreError`.
    public func accounts() throws -> [NativeAuthUserAccount] {
        let found = try ownAccounts(in: store).compactMap { account in
            try store.idTokens(of: account.id, client: configuration.clientID).first.map { (account, $0) }
        }
        return found.sorted { $0.1.updatedAt > $1.1.updatedAt }.map { account, token in
            NativeAuthUserAccount(application: self, account: account, idToken: token.idToken, scope: Scope([]))
        }
    }

    /// Goes on in a browser with what an error calls for: ``NativeAuthError/browserRequest``.
    ///
    /// - Throws: `SignInError`, `TokenStoreError`.
    public func signIn(
        inBrowser request: InteractiveRequest,
        userAgent: any UserAgent = SystemBrowser()
    ) async throws -> NativeAuthUserAccount {
        guard let redirectURI = configuration.redirectURI else {
            throw SignInError.invalidRequest("the configuration has no redirect URI; give the one that is registered")
        }
        var browser = try PublicClientConfiguration(
            clientID: configuration.clientID,
            redirectURI: redirectURI,
            authority: configuration.authority
        )
        browser.tokens = configuration.tokens
        let app = try PublicClientApplication(browser, store: store, transport: transport, userAgent: userAgent)
        let result = try await app.acquireToken(request)
        return try await store.perform { [self] store in try adopt(result, scope: request.scope, in: store) }
    }

    /// Stores the tokens of a sign-in in one commit.
    func keep(_ tokens: SignedInTokens, scope: Scope) async throws -> NativeAuthUserAccount {
        try await store.perform { [self] store in
            try adopt(try store.keep(tokens), scope: scope, in: store)
        }
    }

    /// The account of a sign-in that is stored; whoever was signed in before is signed out unless several may be.
    private func adopt(
        _ result: AuthenticationResult,
        scope: Scope,
        in store: TokenStore
    ) throws -> NativeAuthUserAccount {
        guard let idToken = result.idToken else { throw SignInError.noIDToken }
        if !configuration.allowsSeveralAccounts {
            do {
                for other in try ownAccounts(in: store) where other.id != result.account.id {
                    try store.removeAccount(other.id, client: configuration.clientID)
                }
            } catch {
                // The sign-in itself is stored; the next one tries again.
                configuration.logger.warning("an account was not signed out", metadata: ["reason": "\(error)"])
            }
        }
        return NativeAuthUserAccount(application: self, account: result.account, idToken: idToken, scope: scope)
    }

    /// The accounts that came by native authentication or its browser: user flows have accounts of their own.
    private func ownAccounts(in store: TokenStore) throws -> [Account] {
        let authority = Cloud.group(of: configuration.authority.environment)
        return try store.signedInAccounts(client: configuration.clientID).filter {
            $0.policy == nil && $0.id.authority == authority
        }
    }
}
