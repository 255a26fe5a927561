import HTTPTransport
import OAuth
import OpenIDConnect
import TokenStorage

/// What a failed refresh request means for the caller and leaves behind in the store.
struct RefreshFailure {
    private(set) var error: AcquisitionError
    private(set) var consequence: RefreshConsequence

    /// Whether another refresh token of the account may fare better.
    private(set) var triesNext = false

    /// Whether the account is gone at the issuer, and its credentials are to go too.
    private(set) var isAccountDeleted = false

    /// Whether this very request may have spent the token.
    private(set) var mayHaveSpent = false

    /// Whether the issuer's word is `invalid_grant` and nothing more.
    private var isInvalidGrant = false

    private static let interactionWait: Int64 = 60
    private static let outageWait: Int64 = 60
    private static let waits = 1...Throttle.longest

    /// Judges what the token endpoint, or the way to it, threw; `doubt` is an earlier use of the token whose answer
    /// was lost, and `isProven` says whether a proof of a key was sent.
    ///
    /// - Throws: `failure` itself where it is none of those.
    init(
        _ failure: any Error,
        at authority: Authority,
        isProven: Bool,
        doubt: RefreshAttempt?,
        now: Int64,
        events: [StoreEvent]
    ) throws {
        consequence = RefreshConsequence(token: doubt == nil ? .unspent : .possiblyConsumed)
        switch failure {
        case let failure as HTTPTransportError:
            error = failure.code == .timedOut ? .unanswered(failure) : .network(failure)
            if failure.mayHaveTakenEffect { doubtToken() }
        case let failure as IssuerUnavailable:
            error = .unavailable(failure, isThrottled: false)
            if failure.mayHaveTakenEffect { doubtToken() }
            judgeOutage(status: failure.status, retryAfter: failure.retryAfter, now: now)
        case let failure as UnusableAnswer:
            error = .unusableAnswer(failure)
            judge(failure, doubt: doubt, now: now, events: events)
        case let failure as OAuthError where failure.isAboutProof:
            // The token was not taken, and is not spent (RFC 9449 §5, §8).
            error = .dpop(isProven ? .refusedProof(failure) : .noKey)
            consequence.event = failure.code.rawValue
        case let failure as OAuthError:
            error = .clientMisconfigured(failure)
            judge(failure, at: authority, doubt: doubt, now: now, events: events)
        default: throw failure
        }
    }

    private mutating func doubtToken() { (consequence.token, mayHaveSpent) = (.possiblyConsumed, true) }

    private mutating func judge(_ answer: UnusableAnswer, doubt: RefreshAttempt?, now: Int64, events: [StoreEvent]) {
        consequence.event = "status \(answer.status)"
        switch answer.status {
        // A success that cannot be read may have had the next token in it.
        case 200..<300: doubtToken()
        case 400 where answer.isEmpty || answer.isJSON:
            // Some issuers refuse a refresh token this way. A page, such as a proxy's, says nothing about the token.
            consequence.token = .unspent
            error =
                doubt.map { .possiblyConsumed(nil, since: $0.startedAt, program: $0.program, events: events) }
                ?? .refusedWithoutReason(status: 400)
            triesNext = true
            throttle(for: Self.interactionWait, now: now)
        default: consequence.token = doubt == nil ? .unspent : .possiblyConsumed
        }
    }

    private mutating func judge(
        _ answer: OAuthError,
        at authority: Authority,
        doubt: RefreshAttempt?,
        now: Int64,
        events: [StoreEvent]
    ) {
        var meaning = answer.meaning
        // Outside Microsoft's clouds this is how some issuers report an invalid refresh token.
        if answer.code == .invalidRequest, authority.issuer != nil, !answer.wantsSecret {
            meaning = .interactionRequired
        }
        // An issuer that finds fault with the client or the scope says nothing about the token: an earlier doubt stays.
        if meaning.isAboutToken { consequence.token = .unspent }
        consequence.event = answer.name
        triesNext = meaning.isAboutToken
        isInvalidGrant = answer.code == .invalidGrant && answer.suberror == nil
        switch meaning {
        case .transient:
            doubtToken()
            judgeOutage(status: answer.status, retryAfter: answer.retryAfter, code: answer.code, now: now)
            return
        case .clientMisconfigured:
            error = .clientMisconfigured(answer)
            return
        case .invalidScope:
            error = .invalidScope(answer, isMicrosofts: authority.issuer == nil)
            return
        case .accountDeleted:
            isAccountDeleted = true
            error = .interactionRequired(.accountDeleted)
            return
        case .badToken: consequence.token = .removed
        case .tokenExpired: consequence.token = .ended
        case .clientMismatch: consequence.leavesFamily = true
        case .interactionRequired, .passwordReset, .policyRequired: break
        }
        let isInvalidRequest = answer.code == .invalidRequest && meaning == .interactionRequired
        if let doubt, answer.code == .invalidGrant || isInvalidRequest {
            error = .possiblyConsumed(answer, since: doubt.startedAt, program: doubt.program, events: events)
        } else {
            error = AcquisitionError(refused: answer, events: events)
        }
        throttle(for: Self.interactionWait, now: now)
    }

    /// Takes a plain `invalid_grant` for the issuer's last word about the token, as it is where nothing but what the
    /// token was granted was asked for (RFC 6749 §5.2).
    mutating func endTokenIfInvalid() {
        if isInvalidGrant, consequence.token == .unspent { consequence.token = .ended }
    }

    /// Leaves a token that cannot be used any more in its row: where that is gone, the answer to an earlier use, which
    /// may be on its way to the store, has no place there.
    mutating func keepPlace() {
        if consequence.token == .removed { consequence.token = .ended }
        consequence.keepsPlace = true
    }

    private mutating func judgeOutage(status: Int, retryAfter: Duration?, code: OAuthError.Code? = nil, now: Int64) {
        let wait = Self.wait(retryAfter)
        let outage = IssuerUnavailable(status: status, retryAfter: .seconds(wait), error: code)
        error = .unavailable(outage, isThrottled: false)
        throttle(for: wait, isAskedFor: retryAfter != nil || status == 429, now: now)
    }

    /// How many seconds an outage throttles requests, where the issuer asks for `time` or for nothing.
    private static func wait(_ time: Duration?) -> Int64 {
        min(max(time?.secondsRoundedUp ?? outageWait, waits.lowerBound), waits.upperBound)
    }

    private mutating func throttle(for seconds: Int64, isAskedFor: Bool = false, now: Int64) {
        consequence.throttle = Throttle(
            beganAt: now,
            expiresAt: now + seconds,
            isAskedFor: isAskedFor,
            failure: error.throttled
        )
    }
}
