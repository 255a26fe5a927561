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

/// An account as MSAL shows it.
public struct MSALAccount: Sendable {
    private let account: Account
    private let claims: Claims

    public var username: String? { account.username }

    /// The home account id.
    public var identifier: String? { account.id.homeAccountID }
    public var environment: String { account.environment }
    public var homeAccountId: MSALAccountId { MSALAccountId(account) }

    /// Every claim of the newest ID token.
    public var accountClaims: [String: Any]? { claims.payload.dictionary }

    init(_ account: NativeAuthUserAccount) {
        self.account = account.account
        claims = account.accountClaims
    }
}

/// A home account id and its parts as MSAL shows them.
public struct MSALAccountId: Hashable, Sendable {
    public let identifier: String
    public let objectId: String?
    public let tenantId: String?

    init(_ account: Account) {
        identifier = account.id.homeAccountID
        objectId = account.uid
        tenantId = account.utid
    }
}

/// A person who is signed in, as MSAL's delegates get it.
public struct MSALNativeAuthUserAccountResult: Sendable {
    let user: NativeAuthUserAccount

    public var account: MSALAccount { MSALAccount(user) }
    public var idToken: String? { user.idToken.secret.reveal() }

    public init(_ user: NativeAuthUserAccount) { self.user = user }

    public func getAccessToken(parameters: MSALNativeAuthGetAccessTokenParameters, delegate: any CredentialsDelegate) {
        retrieve(
            Scope(parameters.scopes ?? []),
            forceRefresh: parameters.forceRefresh,
            claims: parameters.claimsRequest,
            returnsRefreshToken: parameters.returnRefreshToken,
            delegate
        )
    }

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
        claims: JSON?,
        returnsRefreshToken: Bool,
        _ delegate: any CredentialsDelegate
    ) {
        Task {
            do throws(RetrieveAccessTokenError) {
                let result = try await user.accessToken(for: scope, forcesRefresh: forceRefresh, claims: claims)
                let token = returnsRefreshToken ? user.newestRefreshToken : nil
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
    fileprivate var newestRefreshToken: Secret? {
        let client = application.configuration.clientID
        // The access token is there all the same.
        return try? application.store.refreshTokens(of: account.id, client: client).first?.secret
    }
}

/// An access token as MSAL hands it out: as text.
public struct MSALNativeAuthTokenResult: Sendable {
    private let token: AccessToken
    private let refresh: Secret?

    public var accessToken: String { token.secret.reveal() }
    public var scopes: [String] { token.scope.tokens }
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
    func onAccessTokenRetrieveError(error: RetrieveAccessTokenError)
    func onAccessTokenRetrieveCompleted(result: MSALNativeAuthTokenResult)
}
