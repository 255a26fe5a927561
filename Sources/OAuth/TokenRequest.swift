/// What was asked of a token endpoint, as far as it decides where the answer is stored.
public struct TokenRequest: Sendable {
    public let clientID: String
    public let authority: Authority
    public let scope: Scope
    public let grant: Grant

    /// The scope that the caller wants, where ``scope`` names more besides; nil: all of it.
    public var askedScope: Scope?

    /// The name a person typed, used where no claim gives a better one.
    public var username: String?

    /// The `claims` parameter ([OpenID Connect Core §5.5](https://openid.net/specs/openid-connect-core-1_0.html#ClaimsParameter)).
    public var claims: JSON?

    /// The key a proof-of-possession token is bound to.
    public var keyID: String?

    public init(clientID: String, authority: Authority, scope: Scope, grant: Grant) {
        self.clientID = clientID
        self.authority = authority
        self.scope = scope
        self.grant = grant
    }
}
