package import HTTPTransport
public import OAuth
public import OpenIDConnect
public import TokenStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a request for an access token failed.
public struct AcquisitionError: IssuerError, Equatable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The user has to sign in; ``AcquisitionError/interaction`` says why.
        public static let interactionRequired = Code(rawValue: "interaction_required")
        /// The issuer refused a refresh token that a crashed or interrupted program may have spent: the user has to
        /// sign in.
        public static let possiblyConsumed = Code(rawValue: "possibly_consumed")
        /// The issuer cannot serve now, or asked to be left alone for a while.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The network failed.
        public static let network = Code(rawValue: "network")
        /// The token endpoint answered with neither a token that can be used nor an OAuth error.
        public static let unusableAnswer = Code(rawValue: "unusable_answer")
        /// The issuer sent an ID token and no access token, as it may where OpenID's own scopes alone were granted;
        /// ``AcquisitionError/idToken`` has it.
        public static let noAccessToken = Code(rawValue: "no_access_token")
        /// The client's registration does not allow the request.
        public static let clientMisconfigured = Code(rawValue: "client_misconfigured")
        /// A scope is not one that the issuer grants.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// The device or the app has to meet a policy first.
        public static let policyRequired = Code(rawValue: "policy_required")
        /// The issuer granted less than all of what was required; ``AcquisitionError/result`` has it.
        public static let declinedScopes = Code(rawValue: "declined_scopes")
        /// The token that the issuer gave is good for a shorter time than was asked for; it is in
        /// ``AcquisitionError/result``.
        public static let tooShort = Code(rawValue: "too_short")
        /// The issuer answered with another account's tokens; nothing was stored.
        public static let accountMismatch = Code(rawValue: "account_mismatch")
        /// The issuer sent an ID token that is not valid; its tokens were not used.
        public static let invalidIDToken = Code(rawValue: "invalid_id_token")
        /// The issuer's metadata cannot be used.
        public static let metadata = Code(rawValue: "metadata")
        /// A token that is bound to a key cannot be had.
        public static let dpop = Code(rawValue: "dpop")
        /// The token that the issuer gave is of another type than was asked for, or bound to another key or none; it is
        /// in ``AcquisitionError/result``.
        public static let otherTokenType = Code(rawValue: "other_token_type")
        /// The caller's time limit is over.
        public static let timedOut = Code(rawValue: "timed_out")

        /// Those of this version; a later one may have more.
        public static let known = [
            interactionRequired, possiblyConsumed, unavailable, network, unusableAnswer, clientMisconfigured,
            invalidScope, policyRequired, declinedScopes, tooShort, accountMismatch, invalidIDToken, metadata, dpop,
            timedOut, noAccessToken, otherTokenType,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "TokenManagement.AcquisitionError" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public let problem: String

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// What the issuer, or the way to it, did; nil where neither is the cause.
    public private(set) var failure: IssuerFailure?

    /// Why the user has to sign in.
    public private(set) var interaction: InteractionReason?

    /// The last events of the refresh token that was refused, which show a race or a stolen token.
    public private(set) var events: [StoreEvent] = []

    /// When the refresh token was sent whose answer was lost.
    public private(set) var sentAt: Date?

    /// The program that sent it.
    public private(set) var program: String?

    /// Whether nothing was sent, because an earlier answer asks for a wait.
    public private(set) var isThrottled = false

    /// The tokens that were given, where they do not meet the request.
    public private(set) var result: TokenResult?

    /// The new ID token that came without an access token; the store has it.
    public private(set) var idToken: IDToken?

    /// How long the token in ``result`` is good for.
    public private(set) var lifetime: Duration?

    /// The status of an outage, and of an answer that is neither a token that can be used nor an OAuth error.
    public private(set) var status: Int?

    /// The claims of the request that failed.
    var askedClaims: JSONValue?

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }

    private init(_ code: Code, _ kind: IssuerFailure.Kind, _ problem: String? = nil, _ remedy: Remedy? = nil) {
        let failure = IssuerFailure(kind)
        self.init(code, problem ?? failure.problem, remedy ?? failure.remedy)
        self.failure = failure
    }
}

extension AcquisitionError {
    /// The user has to sign in, for a reason that no answer of the issuer is behind.
    package static func interactionRequired(_ reason: InteractionReason) -> AcquisitionError {
        let (problem, remedy) = reason.words
        var error = AcquisitionError(.interactionRequired, problem, remedy)
        error.interaction = reason
        return error
    }

    /// There are refresh tokens of other clients of a family alone, and they are not to be used.
    static let onlyFamilyTokens: AcquisitionError = {
        var error = AcquisitionError(
            .interactionRequired,
            "the account has no refresh token of this client, only one of a family of clients",
            Remedy(.useFamilyTokens, "use the tokens of the family, or sign in again")
        )
        error.interaction = .noRefreshToken
        return error
    }()

    /// The issuer asks for a person.
    package static func refused(_ refusal: OAuthError, events: [StoreEvent] = []) -> AcquisitionError {
        var error = AcquisitionError(.interactionRequired, .refusal(refusal), nil, .signInAgain)
        error.interaction = .refused
        error.events = events
        return error
    }

    /// The issuer refused without an OAuth error.
    package static func refusedWithoutReason(status: Int) -> AcquisitionError {
        var error = AcquisitionError(
            .interactionRequired,
            "the issuer refused the refresh token with status \(status)",
            .signInAgain
        )
        error.interaction = .refusedWithoutReason
        error.status = status
        return error
    }

    static func passwordReset(_ refusal: OAuthError) -> AcquisitionError {
        let remedy = Remedy.signIn("sign in again and choose a new password")
        var error = AcquisitionError(.interactionRequired, .refusal(refusal), nil, remedy)
        error.interaction = .passwordReset
        return error
    }

    package static func possiblyConsumed(
        _ refusal: OAuthError?,
        since: Int64,
        program: String,
        events: [StoreEvent]
    ) -> AcquisitionError {
        let answer = refusal.map { " (\($0.answer))" } ?? ""
        let doubt = "which \(program) may have spent before, when it got no answer that it could use"
        var error = AcquisitionError(
            .possiblyConsumed,
            "the issuer refuses the refresh token\(answer), \(doubt)",
            .signInAgain
        )
        error.failure = refusal.map { IssuerFailure(.refusal($0)) }
        error.sentAt = Date(unixSeconds: since)
        error.program = program
        error.events = events
        return error
    }

    package static func unavailable(_ outage: IssuerUnavailable, isThrottled: Bool, _ words: String? = nil) -> Self {
        let words = words ?? outage.problem
        let problem = isThrottled ? "not asked again so soon: \(words)" : words
        var error = AcquisitionError(.unavailable, .unavailable(outage), problem)
        error.isThrottled = isThrottled
        error.status = outage.status
        return error
    }

    package static func network(_ error: HTTPTransportError) -> AcquisitionError {
        AcquisitionError(.network, .network(error))
    }

    /// A refresh token was sent, and no answer came in time.
    static func unanswered(_ error: HTTPTransportError) -> AcquisitionError {
        let advice = "try again: the refresh token may have been spent, and a sign-in may be needed then"
        return AcquisitionError(.network, .network(error), nil, Remedy(.retry, advice))
    }

    package static func unusableAnswer(_ answer: UnusableAnswer) -> AcquisitionError {
        var error = AcquisitionError(.unusableAnswer, .unusableAnswer(answer))
        error.status = answer.status
        return error
    }

    static func noAccessToken(_ idToken: IDToken) -> AcquisitionError {
        let remedy = Remedy.correct("ask for a scope of an API")
        var error = AcquisitionError(.noAccessToken, "the issuer sent no access token, only an ID token", remedy)
        error.idToken = idToken
        return error
    }

    package static func clientMisconfigured(_ refusal: OAuthError) -> AcquisitionError {
        let registration = Remedy(.checkRegistration, "check the client id and its registration")
        let isAboutSecret = refusal.code == .invalidClient || refusal.wantsSecret
        let remedy = isAboutSecret ? refusal.remedy : registration
        return AcquisitionError(.clientMisconfigured, .refusal(refusal), nil, remedy)
    }

    package static func invalidScope(_ refusal: OAuthError, isMicrosofts: Bool = true) -> AcquisitionError {
        // Elsewhere a refresh token brings no scope that its sign-in was not for (RFC 6749 §6).
        let advice = "check the scopes that are asked for"
        let remedy = Remedy.correct(isMicrosofts ? advice : advice + ", or sign in again")
        return AcquisitionError(.invalidScope, .refusal(refusal), nil, remedy)
    }

    package static func policyRequired(_ refusal: OAuthError) -> AcquisitionError {
        let remedy = Remedy.signIn("meet the organisation's policy on this device, then sign in again")
        return AcquisitionError(.policyRequired, .refusal(refusal), nil, remedy)
    }

    package static func declinedScopes(_ result: TokenResult) -> AcquisitionError {
        var error = AcquisitionError(
            .declinedScopes,
            "the issuer did not grant \(result.declinedScope.text)",
            Remedy(.askForLess, "ask for less or sign in again to consent")
        )
        error.result = result
        return error
    }

    static func tooShort(_ result: TokenResult, seconds: Int64, wanted: Int64) -> AcquisitionError {
        var error = AcquisitionError(
            .tooShort,
            "the issuer's token is good for \(seconds) s, and \(wanted) s were asked for",
            Remedy(.askForLess, "ask for less, or sign in again for a longer session")
        )
        error.result = result
        error.lifetime = .seconds(seconds)
        return error
    }

    static func otherTokenType(_ result: TokenResult) -> AcquisitionError {
        let type = result.accessToken.tokenType
        var error = AcquisitionError(
            .otherTokenType,
            "the issuer's token is of type \(type), which is not the type or the key that was asked for",
            .correct("ask for what the issuer gives, such as a Bearer token")
        )
        error.result = result
        return error
    }

    package static let accountMismatch = AcquisitionError(
        .accountMismatch,
        "the issuer answered with the tokens of another account",
        Remedy(.retry, "try again, and report it to the operator if it goes on: a sign-in may be needed then")
    )

    package static func invalidIDToken(_ flaw: IDTokenFlaw) -> AcquisitionError {
        AcquisitionError(.invalidIDToken, .idToken(flaw))
    }

    package static func metadata(_ error: MetadataError) -> AcquisitionError {
        AcquisitionError(.metadata, .metadata(error))
    }

    package static func dpop(_ error: DPoPError) -> AcquisitionError { AcquisitionError(.dpop, .dpop(error)) }

    package static let timedOut = AcquisitionError(
        .timedOut,
        "no token came in time",
        Remedy(.retry, "try again, or allow more time")
    )
}
