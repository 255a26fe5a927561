import OpenIDConnect
import TokenStorage

/// What a caller does about a silent request.
enum SilentCourse: Sendable {
    case serve(TokenResult)

    /// It shares a refresh, which another process may have begun; the fallback is used if that fails for a reason that
    /// allows it.
    case refresh(fallback: FallbackToken?, isUnderWay: Bool)
}

extension TokenManager {
    /// What to do about `request`, from as little of the store as tells it.
    ///
    /// What is in memory is served at once; to read the store may mean to wait for another process.
    ///
    /// - Throws: `TokenStoreError`, `AuthorityError`; ``AcquisitionError`` where there is neither a token nor a refresh.
    func course(_ request: SilentRequest) async throws -> SilentCourse {
        let decider = decider
        // How long ago the person signed in is in the store.
        if options.maximumSessionAge == nil, !request.passesOverCache,
            let token = store.tokenInMemory(for: decider.query(request))
        {
            return .serve(decider.result(token, request))
        }
        return try await store.performRead { [options] in try $0.course(request, decider, options) }
    }
}

extension TokenStore {
    fileprivate func course(
        _ request: SilentRequest,
        _ decider: TokenDecider,
        _ options: TokenManagerOptions
    ) throws -> SilentCourse {
        let mayHaveToken: Bool
        switch try request.isPlain(options) ? refreshOutlook(for: decider.query(request)) : .unclear(mayHaveToken: true)
        {
        case .usable(let token): return .serve(decider.result(token, request))
        case .refreshable(let isUnderWay): return .refresh(fallback: nil, isUnderWay: isUnderWay)
        case .unclear(let may): mayHaveToken = may
        }
        switch try decider.decide(request, expectsToken: mayHaveToken) {
        case .serve(let result): return .serve(result)
        case .refresh(_, at: _, let fallback): return .refresh(fallback: fallback, isUnderWay: false)
        case .fail(let error): throw error
        }
    }
}

extension SilentRequest {
    /// Whether a few questions may decide it: any bearer token of the account's own issuer will do, and the options ask
    /// for nothing else.
    fileprivate func isPlain(_ options: TokenManagerOptions) -> Bool {
        options.maximumSessionAge == nil && !options.allowsExtendedLifetime && options.dpop == .off
            && !passesOverCache && authority == nil && keyID == nil && tokenType == "Bearer"
    }
}
