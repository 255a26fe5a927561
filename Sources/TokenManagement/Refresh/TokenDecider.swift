package import OAuth
import OpenIDConnect
package import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decides a silent request by what the store knows; the manager acts on it, and `explain` prints it.
package struct TokenDecider: Sendable {
    let store: any UsableTokenReading
    let clientID: String
    let options: TokenManagerOptions

    package init(store: any UsableTokenReading, clientID: String, options: TokenManagerOptions) {
        self.store = store
        self.clientID = clientID
        self.options = options
    }

    /// Decides what to do about a request.
    ///
    /// A forced refresh ignores throttles of the store's own from before it; those since `start` are answers to requests
    /// like it. Where no token is expected that is good to use, all that decides is asked for at once.
    ///
    /// - Throws: `TokenStoreError`.
    package func decide(
        _ request: SilentRequest,
        since start: Int64? = nil,
        expectsToken: Bool = true
    ) throws -> TokenDecision {
        let decision = try unlimited(request, since: start, expectsToken: expectsToken)
        return options.maximumSessionAge == nil ? decision : try limited(decision, request)
    }

    /// The decision however long ago the person signed in.
    private func unlimited(
        _ request: SilentRequest,
        since start: Int64?,
        expectsToken: Bool
    ) throws -> TokenDecision {
        let query = query(request)
        if expectsToken, !request.passesOverCache,
            case .usable(let token, isAging: false) = try store.usableToken(for: query)
        {
            return .serve(result(token, request))
        }
        // An account that does not say where it is refreshed may have a token to serve all the same.
        let found = try store.silentState(for: query) { try? Authority(of: $0, requested: request.authority) }
        guard var state = found else {
            let state = try store.signInState(of: request.account, client: clientID)
            if state == .signedOut { return .fail(.interactionRequired(.signedOut)) }
            // A copy may still bring the account: to sign in would not be the answer.
            if try store.isFillingFromCopy() { throw TokenStoreError.filling(store.location) }
            return .fail(.interactionRequired(.noAccount))
        }
        if request.forcesRefresh, !request.keepsWaits { state.liftOwnThrottles(before: start) }
        return decide(request, by: state)
    }

    private func decide(_ request: SilentRequest, by state: SilentState) -> TokenDecision {
        if !request.passesOverCache, let token = state.usable, !state.isAging { return .serve(result(token, request)) }
        guard !state.isForeignAuthority else { return .fail(.interactionRequired(.otherAuthority)) }
        let fallback = fallback(request, state)
        func failing(_ error: AcquisitionError) -> TokenDecision {
            fallback?.result(after: error, account: request.account).map { .serve($0) } ?? .fail(error)
        }
        guard state.signInState != .signedOut else { return .fail(.interactionRequired(.signedOut)) }
        let allowed = state.candidates.filter { isAllowed($0.token) }
        guard !allowed.isEmpty else {
            return failing(state.candidates.isEmpty ? .interactionRequired(.noRefreshToken) : .onlyFamilyTokens)
        }
        let known = allowed.filter { hasKey($0, for: request) }
        guard !known.isEmpty else { return failing(.dpop(.noKey)) }
        let live = known.filter { $0.attempt?.hasEnded != true }
        let now = store.options.now().unixSeconds
        guard let first = live.first else {
            // For a while the store knows more than that it has ended.
            let told = known.lazy.compactMap(\.throttle).map { AcquisitionError($0, now: now) }
                .first(where: \.isPossiblyConsumed)
            return failing(told ?? .interactionRequired(.ended))
        }
        guard let authority = state.authority else { return failing(.interactionRequired(.noAuthority)) }
        let throttled = live.compactMap(\.throttle).map { AcquisitionError($0, now: now) }
        // An outage concerns every token; a refusal only the one that was refused.
        if let outage = throttled.first(where: \.isOutage) { return failing(outage) }
        let free = live.filter { $0.throttle == nil }
        guard free.isEmpty, let throttle = first.throttle else {
            // What is under way, or had no answer, is not begun again at once while a token is good to use.
            if free.contains(where: { isRecent($0.attempt, now) }),
                let result = fallback?.result(unrefreshed: request.account)
            {
                return .serve(result)
            }
            return .refresh(free, at: authority, fallback: fallback)
        }
        return failing(AcquisitionError(throttle, now: now))
    }

    /// Whether a refresh was begun a moment ago whose answer has not come; one that may still be under way in this
    /// process is joined.
    private func isRecent(_ attempt: RefreshAttempt?, _ now: Int64) -> Bool {
        guard let attempt else { return false }
        let start = attempt.isOwn ? options.longestRefresh.components.seconds + 2 : 0
        return (start..<max(start, Self.unansweredWait)).contains(now.seconds(since: attempt.startedAt))
    }

    /// Seconds.
    private static let unansweredWait: Int64 = 60

    /// What the store is asked.
    package func query(_ request: SilentRequest) -> TokenQuery {
        var query = TokenQuery(account: request.account, clientID: clientID, scope: request.scope)
        query.authority = request.authority
        query.tokenType = request.tokenType
        query.keyID = request.keyID
        query.requiresDPoP = options.dpop == .required
        query.acceptsDeclined = !request.requiresAllScopes
        query.buffer = ExpiryBuffer(options.buffer.longest, minimum: request.minimumLifetime)
        return query
    }

    func result(_ token: AccessToken, _ request: SilentRequest) -> TokenResult {
        TokenResult(token, account: request.account, source: .cache)
    }

    private func fallback(_ request: SilentRequest, _ state: SilentState) -> FallbackToken? {
        guard !request.passesOverCache else { return nil }
        if let usable = state.usable { return .aging(usable) }
        return options.allowsExtendedLifetime && request.minimumLifetime == .zero
            ? state.extended.map { .extended($0) } : nil
    }

    /// Whether tokens that come for a refresh token can be bound to the key that is wanted, where one is.
    private func hasKey(_ candidate: RefreshCandidate, for request: SilentRequest) -> Bool {
        guard AccessToken.isDPoP(request.tokenType) else { return options.dpop != .required || candidate.key != nil }
        return candidate.key.map { request.keyID == nil || request.keyID == $0.thumbprint } ?? false
    }

    private func isAllowed(_ token: StoredRefreshToken) -> Bool {
        options.usesFamilyTokens || token.clientID.folded == clientID.folded
    }
}

/// The decision on a silent request, from the state of the store.
package enum TokenDecision: Sendable {
    /// A stored token is returned.
    case serve(TokenResult)

    /// These refresh tokens are tried in order; the fallback is used if they fail for a reason that allows it.
    case refresh([RefreshCandidate], at: Authority, fallback: FallbackToken?)

    case fail(AcquisitionError)
}
