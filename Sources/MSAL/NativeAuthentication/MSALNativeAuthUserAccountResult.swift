import Logging
public import NativeAuthentication
import OAuth
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A person who is signed in, as MSAL's delegates get it.
public struct MSALNativeAuthUserAccountResult: Sendable {
    let user: NativeAuthUserAccount

    /// The account that is signed in.
    public var account: MSALAccount { MSALAccount(user.account, claims: [user.accountClaims]) }

    /// The newest ID token, as the issuer signed it.
    public var idToken: String? { user.idToken.secret.reveal() }

    package init(_ user: NativeAuthUserAccount) { self.user = user }

    /// Gets a usable access token, from the store or by one refresh.
    public func getAccessToken(parameters: MSALNativeAuthGetAccessTokenParameters, delegate: any CredentialsDelegate) {
        retrieve(
            Scope(parameters.scopes ?? []),
            forceRefresh: parameters.forceRefresh,
            claims: parameters.claimsRequest?.claims,
            returnsRefreshToken: parameters.returnRefreshToken,
            delegate
        )
    }

    /// Gets a usable access token, from the store or by one refresh.
    public func getAccessToken(scopes: [String] = [], forceRefresh: Bool = false, delegate: any CredentialsDelegate) {
        retrieve(Scope(scopes), forceRefresh: forceRefresh, claims: nil, returnsRefreshToken: false, delegate)
    }

    /// The same without a delegate.
    public func getAccessToken(
        scopes: [String] = [],
        forceRefresh: Bool = false
    ) async throws(RetrieveAccessTokenError) -> MSALNativeAuthTokenResult {
        let result = try await user.accessToken(for: Scope(scopes), forcesRefresh: forceRefresh)
        return MSALNativeAuthTokenResult(result, refreshToken: nil)
    }

    /// Removes everything that this client knows of the account from this machine, before it returns.
    ///
    /// A failure is in the log alone.
    public func signOut() {
        let application = user.application
        do {
            try application.store.removeAccount(user.account.id, client: application.configuration.clientID)
        } catch {
            application.configuration.logger.error("the account was not signed out", metadata: ["reason": "\(error)"])
        }
    }

    private func retrieve(
        _ scope: Scope,
        forceRefresh: Bool,
        claims: JSONValue?,
        returnsRefreshToken: Bool,
        _ delegate: any CredentialsDelegate
    ) {
        Task {
            do throws(RetrieveAccessTokenError) {
                let result = try await user.accessToken(for: scope, forcesRefresh: forceRefresh, claims: claims)
                let token = returnsRefreshToken ? await user.newestRefreshToken() : nil
                let answer = MSALNativeAuthTokenResult(result, refreshToken: token)
                await delegate.onAccessTokenRetrieveCompleted(result: answer)
            } catch {
                await delegate.onAccessTokenRetrieveError(error: error)
            }
        }
    }
}

extension NativeAuthUserAccount {
    /// The refresh token as it is stored; nil where the store does not say.
    fileprivate func newestRefreshToken() async -> Secret? {
        let client = application.configuration.clientID
        // The access token is there all the same.
        return try? await application.store.refreshTokens(of: account.id, client: client).first?.secret
    }
}

/// An access token as MSAL hands it out: as text.
public struct MSALNativeAuthTokenResult: Sendable {
    private let token: AccessToken
    private let refresh: Secret?

    /// The access token.
    public var accessToken: String { token.secret.reveal() }

    /// What the access token is good for.
    public var scopes: [String] { token.scope.tokens }

    /// When the access token ends.
    public var expiresOn: Date? { token.expiresAt }

    /// nil unless it was asked for.
    public var refreshToken: String? { refresh?.reveal() }

    init(_ result: TokenResult, refreshToken: Secret?) {
        token = result.accessToken
        refresh = refreshToken
    }
}

/// Receives an access token, or the error.
@MainActor
public protocol CredentialsDelegate: AnyObject, Sendable {
    /// There is no token, for the reason that the error has.
    func onAccessTokenRetrieveError(error: RetrieveAccessTokenError)

    /// There is a token.
    func onAccessTokenRetrieveCompleted(result: MSALNativeAuthTokenResult)
}
