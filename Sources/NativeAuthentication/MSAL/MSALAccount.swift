import OAuth

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
