import HTTPTransport
package import OAuth
import OpenIDConnect

/// Why the user has to sign in; a new version may add reasons.
public struct InteractionReason: RawRepresentable, Hashable, Sendable {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The account has signed out.
    public static let signedOut = InteractionReason(rawValue: "signed_out")

    /// The account is not stored, or no longer.
    public static let noAccount = InteractionReason(rawValue: "no_account")

    /// The account has no refresh token that the client may use.
    public static let noRefreshToken = InteractionReason(rawValue: "no_refresh_token")

    /// The account belongs to another authority than the one asked for.
    public static let otherAuthority = InteractionReason(rawValue: "other_authority")

    /// The account does not say where its tokens are refreshed, as one of Azure AD B2C whose user flow is not known.
    public static let noAuthority = InteractionReason(rawValue: "no_authority")

    /// The issuer has said that every refresh token has expired or was revoked.
    public static let ended = InteractionReason(rawValue: "ended")

    /// The issuer asks for a person: ``AcquisitionError/refusal`` and ``AcquisitionError/events`` say more.
    public static let refused = InteractionReason(rawValue: "refused")

    /// The issuer refused without an OAuth error.
    public static let refusedWithoutReason = InteractionReason(rawValue: "refused_without_reason")

    /// A new password is required.
    public static let passwordReset = InteractionReason(rawValue: "password_reset")

    /// The user does not exist any more.
    public static let accountDeleted = InteractionReason(rawValue: "account_deleted")

    /// The token endpoint is outside the account's cloud: the refresh token was not sent.
    public static let foreignEndpoint = InteractionReason(rawValue: "foreign_endpoint")

    /// The person signed in longer ago than ``TokenManagerOptions/maximumSessionAge``.
    public static let sessionTooOld = InteractionReason(rawValue: "session_too_old")

    var words: (problem: String, remedy: Remedy) {
        switch self {
        case .signedOut: ("the account has signed out", .signInAgain)
        case .noAccount: ("the account is not in the store", .signInAgain)
        case .noRefreshToken: ("the account has no refresh token", .signInAgain)
        case .otherAuthority: ("the account is not one of the authority asked for", .signIn("sign in there"))
        case .noAuthority:
            (
                "the account does not say where its tokens are refreshed",
                Remedy(.nameAuthority, "name its authority, or sign in again")
            )
        case .ended: ("the issuer has ended the session", .signInAgain)
        case .accountDeleted: ("the issuer no longer knows the account", .signIn("sign in with another"))
        case .foreignEndpoint: ("the token endpoint is outside the account's cloud and was not used", .signInAgain)
        case .sessionTooOld: ("the sign-in is longer ago than is allowed here", .signInAgain)
        default: ("the issuer asks for a sign-in", .signInAgain)
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
        case let wait as IssuerWait: self = .unavailable(wait.outage, isThrottled: true)
        default: return nil
        }
    }

    /// Whether the user has to sign in.
    public var needsInteraction: Bool {
        switch code {
        case .interactionRequired, .possiblyConsumed, .policyRequired: true
        case .dpop: dpopError?.code == .noKey || dpopError?.code == .badKey
        default: false
        }
    }

    /// The claims of which a new sign-in has to make sure: those that the issuer asks for, else those that it was asked
    /// for, as where a web API has challenged for them; nil where there are none.
    package var neededClaims: JSONValue? {
        // What is not JSON asks for nothing.
        refusal?.claims.flatMap { try? JSONValue(parsing: $0) } ?? askedClaims
    }

    /// The error of a request for these claims.
    func asking(for claims: JSONValue?) -> AcquisitionError {
        var error = self
        error.askedClaims = claims
        return error
    }

    /// Whether the issuer cannot be reached or does not serve, which may pass.
    public var isOutage: Bool {
        switch code {
        case .unavailable, .timedOut: true
        case .network: networkError?.isTransient ?? false
        default: false
        }
    }

    /// Whether the issuer refused a token that may have been spent before.
    var isPossiblyConsumed: Bool { code == .possiblyConsumed }

    /// A word for the counters.
    var word: String { isThrottled ? "throttled" : code.rawValue }
}
