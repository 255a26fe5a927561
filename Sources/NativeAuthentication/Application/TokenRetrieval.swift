import OAuth
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        claims: JSON?
    ) async throws(RetrieveAccessTokenError) -> TokenResult {
        guard scope.reservedTokens.isEmpty else {
            let reason = "\(scope.reservedTokens.joined(separator: " ")) is asked for by itself; leave it out"
            throw RetrieveAccessTokenError(.invalidScope, reason, correlationID)
        }
        do {
            var scope = scope.isEmpty ? signInScope : scope
            var forcesRefresh = forcesRefresh
            if scope.isEmpty {
                let newest = try await newestToken()
                if let newest, newest.isUsable, !forcesRefresh, claims == nil {
                    return TokenResult(newest.token, account: account.id, source: .cache)
                }
                // A request for no API in particular finds nothing in the store.
                forcesRefresh = true
                scope = newest.map { $0.token.scope.isEmpty ? Self.usual : $0.token.scope } ?? Self.usual
            }
            var request = SilentRequest(account: account.id, scope: scope)
            request.forcesRefresh = forcesRefresh
            request.claims = claims
            request.requiresAllScopes = true
            return try await application.manager.acquireTokenSilently(request)
        } catch {
            throw RetrieveAccessTokenError(error, account, scope, application, correlationID)
        }
    }

    private func newestToken() async throws -> (token: AccessToken, isUsable: Bool)? {
        let configuration = application.configuration
        var query = TokenQuery(account: account.id, clientID: configuration.clientID, scope: Scope([]))
        query.buffer = configuration.tokens.buffer
        return try await application.store.perform { [query] in try $0.newestAccessToken(for: query) }
    }

    /// The account as the store has it after a refresh.
    func reload(_ idToken: IDToken) throws(RetrieveAccessTokenError) -> (account: Account, idToken: IDToken)? {
        do {
            return try application.store.account(account.id).map { ($0, idToken) }
        } catch {
            throw RetrieveAccessTokenError(error, account, signInScope, application, correlationID)
        }
    }
}
