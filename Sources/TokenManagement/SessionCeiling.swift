import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// How long the session of an account may go on without a person.
enum SessionCeiling {
    case unlimited
    case end(Date)

    /// The sign-in is too long ago, or its time is not known.
    case reached

    /// How far a clock may go back before its time counts for nothing.
    private static let tolerance: Int64 = 300

    /// The ceiling of a session that began at `signIn`, in Unix seconds.
    ///
    /// The moment of the last use has passed whatever the clock says: one that went back makes no session longer.
    init(_ maximum: Duration, since signIn: Int64, lastUse: Int64, now: Int64) {
        let (end, isOverflow) = signIn.addingReportingOverflow(maximum.components.seconds)
        guard now.seconds(since: signIn) >= -Self.tolerance, max(now, lastUse) < end || isOverflow else {
            self = .reached
            return
        }
        self = isOverflow ? .unlimited : .end(Date(unixSeconds: end))
    }
}

extension TokenDecider {
    /// Where the session of a request ends by the options.
    private func ceiling(_ request: SilentRequest) throws -> SessionCeiling {
        guard let maximum = options.maximumSessionAge else { return .unlimited }
        guard let times = try store.sessionTimes(of: request.account, client: clientID) else { return .reached }
        let now = store.options.now().unixSeconds
        return SessionCeiling(maximum, since: times.signIn, lastUse: times.lastUse, now: now)
    }

    /// When the session of a request ends; nil if it has no end.
    ///
    /// - Throws: ``AcquisitionError`` if that is too soon for the request, or past; `TokenStoreError`.
    private func lastMoment(for request: SilentRequest) throws -> Date? {
        switch try ceiling(request) {
        case .unlimited: return nil
        case .end(let end) where end.unixSeconds - store.options.now().unixSeconds >= request.minimumSeconds: return end
        case .end, .reached: throw AcquisitionError.interactionRequired(.sessionTooOld)
        }
    }

    /// The decision with no token that outlives the session.
    func limited(_ decision: TokenDecision, _ request: SilentRequest) throws -> TokenDecision {
        // Why there is no session says more than how old it is.
        if case .fail(let error) = decision, error.needsInteraction { return decision }
        do {
            return try lastMoment(for: request).map { decision.ending(by: $0) } ?? decision
        } catch let error as AcquisitionError {
            return .fail(error)
        }
    }

    /// When an ID token that ends at `end` is not to be handed out any more: the session of `request` may end before it.
    ///
    /// - Throws: ``AcquisitionError`` if the session is too old already; `TokenStoreError`.
    package func limited(_ end: Date, _ request: SilentRequest) throws -> Date {
        try lastMoment(for: request).map { min(end, $0) } ?? end
    }

    /// A token that was had for `request`, cut to the end of the session.
    ///
    /// - Throws: ``AcquisitionError`` if that has come meanwhile; `TokenStoreError`.
    func limited(_ result: TokenResult, _ request: SilentRequest) throws -> TokenResult {
        switch try limited(.serve(result), request) {
        case .serve(let result): return result
        case .fail(let error): throw error
        case .refresh: return result
        }
    }
}

extension TokenDecision {
    /// The decision where the session ends at `end`.
    fileprivate func ending(by end: Date) -> TokenDecision {
        switch self {
        case .serve(let result): .serve(result.ending(by: end))
        case .refresh(let candidates, let authority, let fallback):
            .refresh(candidates, at: authority, fallback: fallback?.ending(by: end))
        case .fail: self
        }
    }
}

extension SilentRequest {
    fileprivate var minimumSeconds: Int64 { minimumLifetime.secondsRoundedUp }
}
