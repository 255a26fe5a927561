import OAuth
import TokenManagement

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
