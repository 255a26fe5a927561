public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A sign-in to begin.
public struct SignInParameters: Sendable {
    public var username: String

    /// nil: the issuer asks for it, or for a code.
    public var password: Secret?

    /// What the access token has to be granted; the scopes for an ID token and a refresh token are added.
    public var scope = Scope([])

    /// The `claims` parameter ([OpenID Connect Core §5.5](https://openid.net/specs/openid-connect-core-1_0.html#ClaimsParameter)).
    public var claims: JSON?

    /// What the requests of the flow are marked with; nil: a new one.
    public var correlationID: UUID?

    public init(username: String, password: Secret? = nil, scope: Scope = Scope([])) {
        self.username = username
        self.password = password
        self.scope = scope
    }
}
