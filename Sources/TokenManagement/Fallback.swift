package import OAuth

/// A stored token that may stand in for one that a refresh did not bring.
package enum Fallback: Sendable {
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
