public import OAuth

/// An account with what a list says of it; times are Unix seconds.
public struct AccountSummary: Sendable {
    public let account: Account

    /// The clients that hold a token of the account.
    public let clientIDs: [String]
    public let signInState: SignInState

    /// Whether there is a refresh token that the issuer has not refused for good.
    public let hasRefreshToken: Bool

    /// How many access tokens are in each state.
    public let validCount: Int
    public let agingCount: Int
    public let expiredCount: Int

    public var accessTokenCount: Int { validCount + agingCount + expiredCount }

    /// When the next access token that has not ended will end.
    public let nextExpiry: Int64?

    /// The last sign-in, refresh or import.
    public let lastUsed: Int64

    /// Only where they were asked for.
    public let accessTokens: [AccessTokenSummary]

    /// The tenant the account is at home in, else the first it was seen in.
    public var tenantID: String? {
        account.tenantProfiles.first.map(\.tenantID).flatMap { $0.isEmpty ? nil : $0 } ?? account.utid
    }

    public var localAccountID: String? { account.tenantProfiles.first?.localAccountID }
}

/// An access token without its secret; times are Unix seconds.
public struct AccessTokenSummary: Sendable {
    public let clientID: String
    public let scopes: [String]
    public let tokenType: String
    public let state: TokenState
    public let cachedAt: Int64?
    public let expiresAt: Int64
    public let refreshAt: Int64?
}
