public import HTTPTransport
public import OAuth
public import OpenIDConnect
public import TokenStorage

/// Why a request for an access token failed.
public enum AcquisitionError: Error, Sendable {
    /// The user has to sign in.
    case interactionRequired(InteractionReason)

    /// The issuer refused a refresh token that a crashed or interrupted program may have spent: the user has to sign in.
    case possiblyConsumed(OAuthError?, since: Int64, program: String, events: [StoreEvent])

    /// The issuer cannot serve now, or asked to be left alone for `retryAfter` seconds.
    case unavailable(IssuerUnavailable, isThrottled: Bool)

    /// The network failed.
    case network(HTTPTransportError)

    /// The token endpoint answered with an error that is not an OAuth error.
    case unusableAnswer(UnusableAnswer)

    /// The client's registration does not allow the request.
    case clientMisconfigured(OAuthError)

    case invalidScope(OAuthError)

    /// The device or the app has to meet a policy first.
    case policyRequired(OAuthError)

    /// The issuer granted less than all of what was required.
    case declinedScopes(TokenResult)

    /// The token that the issuer gave is good for fewer seconds than were asked for.
    case tooShort(TokenResult, seconds: Int64, wanted: Int64)

    /// The issuer answered with another account's tokens; nothing was stored.
    case accountMismatch

    /// The issuer sent an ID token that is not valid; its tokens were not used.
    case invalidIDToken(IDTokenFlaw)

    /// The issuer's metadata cannot be used.
    case metadata(MetadataError)

    /// A token that is bound to a key cannot be had.
    case dpop(DPoPError)

    /// The caller's time limit is over.
    case timedOut
}

extension AcquisitionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .interactionRequired(let reason): reason.description
        case .possiblyConsumed(let error, _, let program, _):
            "the issuer refuses the refresh token"
                + (error.map { " (\($0.code.rawValue))" } ?? "")
                + ", which \(program) may have spent before, when it got no answer; sign in again"
        case .unavailable(let error, let isThrottled):
            isThrottled ? "not asked again so soon: \(error)" : "\(error)"
        case .network(let error): error.description
        case .unusableAnswer(let answer): answer.description
        case .clientMisconfigured(let error): "\(error); check the client id and its registration"
        case .invalidScope(let error): "\(error); check the scopes that are asked for"
        case .policyRequired(let error): "\(error); meet the organisation's policy on this device, then sign in again"
        case .declinedScopes(let result):
            "the issuer did not grant \(result.declinedScope.text); ask for less or sign in again to consent"
        case .tooShort(_, let seconds, let wanted):
            "the issuer's token is good for \(seconds) s, and \(wanted) s were asked for; "
                + "ask for less, or sign in again for a longer session"
        case .accountMismatch: "the issuer answered with the tokens of another account; sign in again"
        case .invalidIDToken(let flaw): flaw.description
        case .metadata(let error): error.description
        case .dpop(let error): error.description
        case .timedOut: "no token came in time; try again, or allow more time"
        }
    }
}

extension AcquisitionError {
    /// What a failure to fetch an issuer's documents means; nil if `error` is something else.
    init?(documents error: any Error) {
        switch error {
        case let error as MetadataError: self = .metadata(error)
        case let error as HTTPTransportError: self = .network(error)
        case let error as IssuerUnavailable: self = .unavailable(error, isThrottled: false)
        default: return nil
        }
    }

    /// Whether the user has to sign in.
    public var needsInteraction: Bool {
        switch self {
        case .interactionRequired, .possiblyConsumed, .policyRequired, .dpop(.noKey), .dpop(.badKey): true
        default: false
        }
    }

    /// Whether the issuer cannot be reached or does not serve, which may pass.
    public var isOutage: Bool {
        switch self {
        case .unavailable, .timedOut: true
        case .network(let error): error.isTransient
        default: false
        }
    }

    /// Whether the issuer refused a token that may have been spent before.
    var isPossiblyConsumed: Bool {
        if case .possiblyConsumed = self { true } else { false }
    }

    /// A word for the counters.
    var reason: String {
        switch self {
        case .interactionRequired: "interaction_required"
        case .possiblyConsumed: "possibly_consumed"
        case .unavailable(_, let isThrottled): isThrottled ? "throttled" : "unavailable"
        case .network: "network"
        case .unusableAnswer: "unusable_answer"
        case .clientMisconfigured: "client_misconfigured"
        case .invalidScope: "invalid_scope"
        case .policyRequired: "policy_required"
        case .declinedScopes: "declined_scopes"
        case .tooShort: "too_short"
        case .accountMismatch: "account_mismatch"
        case .invalidIDToken: "invalid_id_token"
        case .metadata: "metadata"
        case .dpop: "dpop"
        case .timedOut: "timed_out"
        }
    }
}

/// Why the user has to sign in.
public enum InteractionReason: Sendable {
    case signedOut
    case noRefreshToken

    /// The account belongs to another authority than the one asked for.
    case otherAuthority

    /// The issuer has said that every refresh token has expired or was revoked.
    case ended

    /// The issuer asks for a person; the last events of the refresh token show a race or a stolen token.
    case refused(OAuthError, events: [StoreEvent])

    /// The issuer refused without an OAuth error.
    case refusedWithoutReason(status: Int)

    /// A new password is required.
    case passwordReset(OAuthError)

    /// The user does not exist any more.
    case accountDeleted

    /// The token endpoint is outside the account's cloud: the refresh token was not sent.
    case foreignEndpoint

    /// The person signed in longer ago than ``TokenManagerOptions/maximumSessionAge``.
    case sessionTooOld
}

extension InteractionReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .signedOut: "the account has signed out; sign in again"
        case .noRefreshToken: "the account has no refresh token; sign in again"
        case .otherAuthority: "the account is not one of the authority asked for; sign in there"
        case .ended: "the issuer has ended the session; sign in again"
        case .refused(let error, _): "\(error); sign in again"
        case .refusedWithoutReason(let status):
            "the issuer refused the refresh token with status \(status); sign in again"
        case .passwordReset(let error): "\(error); sign in again and choose a new password"
        case .accountDeleted: "the issuer no longer knows the account; sign in with another"
        case .sessionTooOld: "the sign-in is longer ago than is allowed here; sign in again"
        case .foreignEndpoint: "the token endpoint is outside the account's cloud and was not used; sign in again"
        }
    }
}
