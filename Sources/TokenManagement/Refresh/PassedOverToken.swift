import OAuth
import TokenStorage

extension TokenManager {
    /// The request after a wait: another token than the one that was passed over serves.
    func sufficient(
        _ request: SilentRequest,
        passingOver before: AccessToken?
    ) async throws -> SilentRequest {
        let now = try await passedOverToken(request)
        return now == nil || now?.secret == before?.secret ? request : request.easier
    }

    /// The token that would serve, did the request not ask for a newer one.
    ///
    /// A different stored token is newer, and serves. A claims challenge needs one that was requested with its claims.
    func passedOverToken(_ request: SilentRequest) async throws -> AccessToken? {
        guard request.forcesRefresh || request.minimumLifetime > .zero, request.claims == nil, request.namesAPI
        else { return nil }
        let query = decider.query(request.easier)
        let stored = try await store.performRead { try $0.storedUsableToken(for: query) }
        guard case .usable(let token, isAging: _) = stored else { return nil }
        return token
    }
}
