public import OAuth
import OpenIDConnect
import Synchronization
public import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A person who is signed in (MSAL's `MSALNativeAuthUserAccountResult`).
public final class NativeAuthUserAccount: Sendable {
    package let application: NativeAuthPublicClientApplication
    private let current: LockedValue<(account: Account, idToken: IDToken)>

    /// What the sign-in asked for.
    let signInScope: Scope

    /// Why the tokens of the sign-in are kept in a file beside the store; nil: they are in the store.
    package let pendingReason: String?

    /// What the sign-in asked for and the issuer did not grant.
    package let declinedScope: Scope

    init(
        application: NativeAuthPublicClientApplication,
        account: Account,
        idToken: IDToken,
        scope: Scope,
        pendingReason: String? = nil,
        declinedScope: Scope = Scope([])
    ) {
        self.application = application
        self.pendingReason = pendingReason
        self.declinedScope = declinedScope
        current = LockedValue((account, idToken))
        signInScope = scope
    }

    /// The account, as it was last read.
    public var account: Account { current.withLock(\.account) }

    /// The newest ID token.
    public var idToken: IDToken { current.withLock(\.idToken) }

    /// What the issuer says of the person, custom attributes and claims by their configured names among it.
    public var accountClaims: Claims { idToken.claims }

    /// A usable access token, from the store or by one refresh; never prompts.
    ///
    /// Tokens for several APIs are kept side by side. Without a scope it is the token of the sign-in, else the newest.
    public func accessToken(
        for scope: Scope = Scope([]),
        forcesRefresh: Bool = false,
        claims: JSONValue? = nil
    ) async throws(RetrieveAccessTokenError) -> TokenResult {
        let retrieval = TokenRetrieval(application: application, account: account, signInScope: signInScope)
        let result = try await retrieval.token(scope, forcesRefresh: forcesRefresh, claims: claims)
        if let idToken = result.idToken { try await retrieval.reload(idToken).map(replace) }
        return result
    }

    /// Calls a web API with tokens of the account.
    public func transport(to api: WebAPI) -> AuthorizedTransport {
        application.manager.authorized(api, account: account.id)
    }

    /// Ends the session at the issuer where that offers it, and removes everything that this client knows of the
    /// account from this machine.
    ///
    /// Doing it twice is not an error.
    ///
    /// - Throws: `TokenStoreError`.
    @discardableResult
    public func signOut(_ place: SignOutScope = .everywhere) async throws -> SignOutReport {
        try await application.manager.signOut(account.id, place)
    }

    private func replace(_ newer: (account: Account, idToken: IDToken)) { current.withLock { $0 = newer } }
}

/// Gets an access token for an account, and says in the terms of native authentication why there is none.
struct TokenRetrieval: Sendable {
    let application: NativeAuthPublicClientApplication
    let account: Account
    let signInScope: Scope

    private static let usual: Scope = "openid profile offline_access"

    private var correlationID: UUID { UUID() }

    func token(
        _ scope: Scope,
        forcesRefresh: Bool,
        claims: JSONValue?
    ) async throws(RetrieveAccessTokenError) -> TokenResult {
        guard scope.reservedTokens.isEmpty else {
            let reason = "\(scope.reservedTokens.joined(separator: " ")) is asked for by itself"
            throw RetrieveAccessTokenError(.invalidScope, reason, correlationID, remedy: .correct("leave it out"))
        }
        do {
            var scope = scope.matchesNothing ? signInScope : scope
            var forcesRefresh = forcesRefresh
            if scope.matchesNothing {
                let newest = try await newestToken()
                if let newest, newest.isUsable, !forcesRefresh, claims == nil {
                    let kept = TokenResult(newest.token, account: account.id, source: .cache)
                    // It ends with the session, as a token for an API does.
                    let request = SilentRequest(account: account.id, scope: scope)
                    return try await application.manager.limited(kept, request)
                }
                // A request for no API in particular finds nothing in the store.
                forcesRefresh = true
                scope = newest.map { $0.token.scope.matchesNothing ? Self.usual : $0.token.scope } ?? Self.usual
            }
            var request = SilentRequest(account: account.id, scope: scope)
            request.forcesRefresh = forcesRefresh
            request.claims = claims
            request.requiresAllScopes = true
            return try await application.manager.acquireTokenSilently(request)
        } catch {
            throw RetrieveAccessTokenError(error, account, scope, claims, application, correlationID)
        }
    }

    private func newestToken() async throws -> (token: AccessToken, isUsable: Bool)? {
        let configuration = application.configuration
        var query = TokenQuery(account: account.id, clientID: configuration.clientID, scope: Scope([]))
        query.buffer = configuration.tokenOptions.buffer
        query.requiresDPoP = configuration.tokenOptions.dpop == .required
        return try await application.store.performRead { [query] in try $0.newestAccessToken(for: query) }
    }

    /// The account as the store has it after a refresh.
    func reload(_ idToken: IDToken) async throws(RetrieveAccessTokenError) -> (account: Account, idToken: IDToken)? {
        do {
            let id = account.id
            return try await application.store.performRead { try $0.account(id) }.map { ($0, idToken) }
        } catch {
            throw RetrieveAccessTokenError(error, account, signInScope, nil, application, correlationID)
        }
    }
}
