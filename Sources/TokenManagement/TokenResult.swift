public import OAuth

/// A usable access token, and where it came from.
public struct TokenResult: Sendable {
    /// Where a token came from.
    public enum Source: String, Sendable {
        case cache
        case refresh
        case signIn
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

    /// A refresh was tried, or throttled, and failed in a way that may pass.
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

/// A stored token to use if a refresh fails.
package enum FallbackToken: Sendable {
    /// Good to use, but worth refreshing.
    case aging(AccessToken)

    /// Past its end, within what the issuer allows for an outage.
    case extended(AccessToken)

    /// The token where `error` lets it stand in, else nil.
    func result(after error: AcquisitionError, account: Account.ID) -> TokenResult? {
        switch self {
        case .aging(let token):
            var result = TokenResult(token, account: account, source: .cache)
            result.freshness = .aging
            result.interactionSoon = error.needsInteraction
            result.refreshFailed = !error.needsInteraction
            return result
        case .extended(let token):
            guard error.isOutage else { return nil }
            var result = TokenResult(token, account: account, source: .cache)
            result.freshness = .extended
            result.refreshFailed = true
            return result
        }
    }
}
