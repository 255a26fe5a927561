import OpenIDConnect
import TokenStorage

/// What a caller does about a silent request.
enum SilentCourse: Sendable {
    case serve(TokenResult)

    /// It shares a refresh, which another process may have begun; the fallback is used if that fails for a reason that
    /// allows it.
    case refresh(fallback: FallbackToken?, isUnderWay: Bool)

    fileprivate init(_ decision: TokenDecision) throws {
        switch decision {
        case .serve(let result): self = .serve(result)
        case .refresh(_, at: _, let fallback): self = .refresh(fallback: fallback, isUnderWay: false)
        case .fail(let error): throw error
        }
    }
}

extension TokenManager {
    /// What to do about `request`, from as little of the store as tells it.
    ///
    /// What is in memory is served at once; to read the store may mean to wait for another process.
    ///
    /// - Throws: `TokenStoreError`; ``AcquisitionError`` where there is neither a token nor a refresh.
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
        guard request.isPlain(options) else { return try SilentCourse(decider.decide(request)) }
        return switch try refreshOutlook(for: decider.query(request)) {
        case .usable(let token): .serve(decider.result(token, request))
        case .refreshable(let isUnderWay): .refresh(fallback: nil, isUnderWay: isUnderWay)
        case .unclear(let mayHaveToken): try SilentCourse(decider.decide(request, expectsToken: mayHaveToken))
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
