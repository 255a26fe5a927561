public import OAuth

/// An access token that is good to use, and how it came to be.
public struct TokenResult: Sendable {
    /// Where a token came from.
    public enum Source: String, Sendable {
        case cache
        case refresh
    }

    /// How fresh a token is.
    public enum Freshness: String, Sendable {
        case fresh
        /// Good, but worth refreshing, which did not succeed.
        case aging
        /// Past its end, and good only because the issuer cannot be reached.
        case extended
    }

    public let accessToken: AccessToken
    public let account: Account.ID
    public let source: Source
    public var freshness = Freshness.fresh

    /// What was asked for and not granted.
    public var declinedScope = Scope([])

    /// The ID token that came with a refresh.
    public var idToken: IDToken?

    /// Why the store could not take the new tokens yet, which are safe in a sealed file beside it; nil where it did.
    public var pendingReason: String?

    /// A refresh was tried, or held back, and failed in a way that may pass.
    public var refreshFailed = false

    /// Someone will have to sign in once this token has ended.
    public var interactionSoon = false

    package init(_ accessToken: AccessToken, account: Account.ID, source: Source) {
        self.accessToken = accessToken
        self.account = account
        self.source = source
        if let declined = accessToken.declinedScope { declinedScope = declined }
    }
}
