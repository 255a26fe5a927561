public import OAuth

/// What a request for a token comes to, with or without a person (MSAL's `MSALResult`).
public struct AuthenticationResult: Sendable {
    /// Where the access token came from.
    public enum Source: String, Sendable {
        case cache
        case refresh
        case signIn
    }

    /// nil where the issuer sent none, as for a request of ID-token scopes only.
    public let accessToken: AccessToken?
    public let account: Account

    /// The newest ID token of the account.
    public let idToken: IDToken?
    public let authority: Authority
    public let source: Source

    /// What was asked for and not granted.
    public var declinedScope: Scope

    /// Why the store could not take the tokens yet, which are safe in a sealed file beside it; nil where it did.
    public var pendingReason: String?

    /// What the access token is good for.
    public var scope: Scope { accessToken?.scope ?? Scope([]) }

    /// The value of an `Authorization` header.
    public var authorizationHeader: Secret? {
        accessToken.map { Secret("\($0.authorizationScheme) \($0.secret.reveal())") }
    }

    /// The account as the access token's tenant knows it.
    public var tenantProfile: TenantProfile? {
        let realm = accessToken?.realm
        return account.tenantProfiles.first { $0.tenantID == realm } ?? account.tenantProfiles.first
    }
}
