public import OAuth

/// An access token that is wanted from the store.
public struct TokenQuery: Hashable, Sendable {
    public let account: Account.ID
    public let clientID: String

    /// Every token of it must have been granted; reserved tokens such as `openid` take no part beside others.
    public let scope: Scope

    /// Where the token is to be from; nil or a tenant such as `common`: the tenant the account is at home in.
    public var authority: Authority?
    public var tokenType = "Bearer"

    /// The key a proof-of-possession token must be bound to.
    public var keyID: String?

    /// A token minted for exactly these claims; nil: for none.
    public var requestedClaims: JSON?
    public var buffer = ExpiryBuffer.standard

    /// Whether a token serves that the issuer gave for just this scope, although it did not grant all of it.
    public var acceptsDeclined = false

    public init(account: Account.ID, clientID: String, scope: Scope) {
        self.account = account
        self.clientID = clientID
        self.scope = scope
    }
}
