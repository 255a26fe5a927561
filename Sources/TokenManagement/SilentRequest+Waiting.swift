import OAuth
import TokenStorage

extension SilentRequest {
    /// Whether another process has refreshed since the request was decided, so that the stored token is new.
    ///
    /// A claims challenge is answered only by a token that was asked for with its claims.
    func isAnswered(by candidates: [RefreshCandidate], now tokens: [RefreshToken]) -> Bool {
        guard claims == nil, let before = candidates.first?.token, let after = tokens.first else { return false }
        return (before.rowID, before.generation) != (after.rowID, after.generation)
    }

    /// The request, content with any token that is good to use.
    var easier: SilentRequest {
        var request = self
        request.forcesRefresh = false
        request.minimumLifetime = 0
        return request
    }
}
