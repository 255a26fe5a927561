public import OAuth
public import OpenIDConnect

/// Why a sign-in failed; nothing was stored but for ``Code/declinedScopes``.
public struct SignInError: IssuerError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request is invalid; no sign-in page was opened.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The redirect URI is invalid: an app cannot be reached by it.
        public static let invalidRedirectURI = Code(rawValue: "invalid_redirect_uri")
        /// The authority is not among the known ones of the application.
        public static let unknownAuthority = Code(rawValue: "unknown_authority")
        /// The person cancelled, or the app did.
        public static let cancelled = Code(rawValue: "cancelled")
        /// No sign-in was completed within the time limit.
        public static let timedOut = Code(rawValue: "timed_out")
        /// Another sign-in of the application is under way.
        public static let alreadyRunning = Code(rawValue: "already_running")
        /// The person has forgotten the password; start the user flow that sets a new one.
        public static let forgotPassword = Code(rawValue: "forgot_password")
        /// The issuer refused; ``SignInError/refusal`` says why.
        public static let refused = Code(rawValue: "refused")
        /// No sign-in was completed within the time limit, but an answer to another request came.
        public static let stateMismatch = Code(rawValue: "state_mismatch")
        /// The address that the browser was given was opened twice, so another user of the machine may know the page.
        public static let openedTwice = Code(rawValue: "opened_twice")
        /// The answer is from another issuer than the one asked.
        public static let otherIssuer = Code(rawValue: "other_issuer")
        /// The response is malformed.
        public static let invalidAnswer = Code(rawValue: "invalid_answer")
        /// The tokens came without an ID token, so their account is not known.
        public static let noIDToken = Code(rawValue: "no_id_token")
        /// The issuer sent an ID token that is not valid.
        public static let invalidIDToken = Code(rawValue: "invalid_id_token")
        /// A different account signed in than the one that was requested.
        public static let accountMismatch = Code(rawValue: "account_mismatch")
        /// The issuer granted less than all of what was required; the person is signed in, and what was granted is
        /// stored.
        public static let declinedScopes = Code(rawValue: "declined_scopes")
        /// The issuer has no device authorization endpoint.
        public static let noDeviceEndpoint = Code(rawValue: "no_device_endpoint")
        /// The issuer's answer to the request for a device code cannot be used or shown.
        public static let invalidDeviceAuthorization = Code(rawValue: "invalid_device_authorization")
        /// The page cannot be shown.
        public static let noBrowser = Code(rawValue: "no_browser")
        /// The redirect cannot be received.
        public static let noListener = Code(rawValue: "no_listener")
        /// The issuer's metadata cannot be used.
        public static let metadata = Code(rawValue: "metadata")
        /// Tokens that are bound to a key cannot be had.
        public static let dpop = Code(rawValue: "dpop")
        /// The network failed.
        public static let network = Code(rawValue: "network")
        /// The issuer cannot serve now.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The token endpoint answered with an error that is not an OAuth error.
        public static let unusableAnswer = Code(rawValue: "unusable_answer")
        /// The issuer shows its page only for requests that were pushed to it (RFC 9126), which is not done here.
        public static let pushedRequests = Code(rawValue: "pushed_requests")

        /// Those of this version; a later one may have more.
        public static let known = [
            invalidRequest, invalidRedirectURI, unknownAuthority, cancelled, timedOut, alreadyRunning,
            forgotPassword, refused, stateMismatch, openedTwice, otherIssuer, invalidAnswer, noIDToken,
            invalidIDToken, accountMismatch, declinedScopes, noDeviceEndpoint, invalidDeviceAuthorization,
            noBrowser, noListener, metadata, dpop, network, unavailable, unusableAnswer,
            pushedRequests,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "SignIn.SignInError" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public let problem: String

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// What the issuer, or the way to it, did; nil where neither is the cause.
    public private(set) var failure: IssuerFailure?

    /// What the issuer did not grant.
    public private(set) var declinedScope: Scope?

    /// The issuer that was asked.
    public private(set) var expectedIssuer: String?

    /// The issuer that answered instead.
    public private(set) var foundIssuer: String?

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }

    package init(_ code: Code, _ kind: IssuerFailure.Kind, _ problem: String? = nil, _ remedy: Remedy? = nil) {
        let failure = IssuerFailure(kind)
        self.init(code, problem ?? failure.problem, remedy ?? failure.remedy)
        self.failure = failure
    }

    package static func declinedScopes(_ scope: Scope) -> SignInError {
        var error = SignInError(
            .declinedScopes,
            "the issuer did not grant \(scope.text)",
            Remedy(.askForLess, "ask for less or sign in again to consent")
        )
        error.declinedScope = scope
        return error
    }

    package static func otherIssuer(expected: String, found: String) -> SignInError {
        var error = SignInError(
            .otherIssuer,
            "the answer is from \(found) and not from \(expected), and was refused",
            .startAgain
        )
        (error.expectedIssuer, error.foundIssuer) = (expected, found)
        return error
    }
}
