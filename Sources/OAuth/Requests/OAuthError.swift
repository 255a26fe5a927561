/// The refusal of an authorization server ([RFC 6749 §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)).
public struct OAuthError: CodedError, Hashable {
    /// The value of `error`; servers add their own, so this is an open set.
    public struct Code: ErrorCode {
        /// The code as the issuer sends it.
        public let rawValue: String

        /// A code as the issuer sends it.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request lacks a parameter or has a wrong one (RFC 6749 §5.2).
        public static let invalidRequest = Code(rawValue: "invalid_request")

        /// The client is unknown or did not prove who it is (RFC 6749 §5.2).
        public static let invalidClient = Code(rawValue: "invalid_client")

        /// The code or the refresh token is not good, or no more (RFC 6749 §5.2).
        public static let invalidGrant = Code(rawValue: "invalid_grant")

        /// The scope is unknown, or more than was granted (RFC 6749 §5.2).
        public static let invalidScope = Code(rawValue: "invalid_scope")

        /// The client may not use this grant (RFC 6749 §5.2).
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")

        /// The issuer does not know this grant (RFC 6749 §5.2).
        public static let unsupportedGrantType = Code(rawValue: "unsupported_grant_type")

        /// The issuer does not revoke tokens of this kind (RFC 7009 §2.2.1).
        public static let unsupportedTokenType = Code(rawValue: "unsupported_token_type")

        /// The user or the issuer refused (RFC 6749 §4.1.2.1).
        public static let accessDenied = Code(rawValue: "access_denied")

        /// The issuer failed (RFC 6749 §4.1.2.1).
        public static let serverError = Code(rawValue: "server_error")

        /// The issuer is overloaded or under maintenance (RFC 6749 §4.1.2.1).
        public static let temporarilyUnavailable = Code(rawValue: "temporarily_unavailable")

        /// The user has to do something at the issuer (OpenID Connect Core §3.1.2.6).
        public static let interactionRequired = Code(rawValue: "interaction_required")

        /// The user has not finished yet (RFC 8628 §3.5).
        public static let authorizationPending = Code(rawValue: "authorization_pending")

        /// As `authorizationPending`, to be asked five seconds less often (RFC 8628 §3.5).
        public static let slowDown = Code(rawValue: "slow_down")

        /// The device code has expired (RFC 8628 §3.5).
        public static let expiredToken = Code(rawValue: "expired_token")
        /// [RFC 9449 §5](https://www.rfc-editor.org/rfc/rfc9449#section-5).
        public static let invalidDPoPProof = Code(rawValue: "invalid_dpop_proof")
        /// [RFC 9449 §8](https://www.rfc-editor.org/rfc/rfc9449#section-8).
        public static let useDPoPNonce = Code(rawValue: "use_dpop_nonce")

        /// Placeholder for an `error` value that is not a valid code: too long, or with other characters than names
        /// have.
        public static let unknown = Code(rawValue: "unknown_error")

        /// Those of this version; a later one may have more.
        public static let known = [
            invalidRequest, invalidClient, invalidGrant, invalidScope, unauthorizedClient, unsupportedGrantType,
            unsupportedTokenType, accessDenied, serverError, temporarilyUnavailable, interactionRequired,
            authorizationPending, slowDown, expiredToken, invalidDPoPProof, useDPoPNonce, unknown,
        ]

        /// The code that an issuer sent, or ``unknown`` if it is not a valid code.
        package static func named(_ text: String) -> Code { OAuthError.name(text).map(Code.init) ?? .unknown }
    }

    /// The `error` of the answer.
    public package(set) var code: Code

    /// Microsoft's `suberror`, such as `bad_token`.
    public var suberror: String?

    /// The value of `error_description`, for the operator of the client.
    public var serverDescription: String?

    /// Microsoft's `error_codes`.
    public var numbers: [Int64] = []

    /// The claims that a new sign-in must satisfy, as JSON.
    public var claims: String?

    /// The status of the answer.
    public var status: Int

    /// How long until the next attempt is welcome, where the issuer says so.
    public var retryAfter: Duration?

    /// An error response, for transports and issuers of your own and for tests.
    public init(code: Code, suberror: String? = nil, serverDescription: String? = nil, status: Int = 400) {
        self.code = code
        self.suberror = suberror
        self.serverDescription = serverDescription
        self.status = status
    }

    /// Reads the JSON of a response body; nil if it names no error.
    public init?(_ object: JSONValue.Object, status: Int) {
        // Google's device endpoint has another name for it.
        guard let code = (object["error"] ?? object["error_code"])?.text, !code.isEmpty else { return nil }
        self.code = .named(code)
        suberror = object["suberror"]?.text.flatMap(Self.name)
        serverDescription = object["error_description"]?.text
        numbers = (object["error_codes"]?.array ?? []).compactMap(\.seconds)
        claims = object["claims"]?.text
        self.status = status
    }

    /// `text` if it is fit to be a code or a `suberror`: they are printed and stored, and anything else an issuer puts
    /// there may be what it was sent.
    package static func name(_ text: String) -> String? {
        let isName =
            (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        return isName ? text : nil
    }
}

extension OAuthError {
    /// The domain of the error as an `NSError`.
    public static var domain: String { "OAuth.OAuthError" }

    /// The code, and what the issuer says about it, which is of bounded length.
    public var problem: String { "the issuer answered \(answer)" }

    /// The same as a part of another sentence.
    package var answer: String {
        let shown = Self.shown(serverDescription)
        return shown.isEmpty ? name : "\(name): \(shown)"
    }

    /// The code, and the suberror where there is one.
    package var name: String { suberror.map { "\(code.rawValue)/\($0)" } ?? code.rawValue }

    /// The first line of what an issuer says, of bounded length and without a full stop: what to do comes behind it.
    package static func shown(_ description: String?) -> Substring {
        let line = description?.prefix { !$0.isNewline }.prefix(200) ?? ""
        return line.utf8.last == UInt8(ascii: ".") ? line.dropLast() : line
    }

    /// What helps with most refusals of this kind; the errors of a sign-in and of a refresh know more.
    public var remedy: Remedy? {
        switch meaning {
        case .transient: .retryLater
        case _ where code == .invalidClient || wantsSecret:
            Remedy(.checkRegistration, "check the client id, and that it is registered as public: no secret is sent")
        case .clientMisconfigured, .invalidScope:
            Remedy(.checkRegistration, "correct the request or the client's registration")
        default: .signInAgain
        }
    }
}

extension OAuthError {
    /// What a refused refresh means for the account, its refresh token and the caller.
    package enum Meaning: Hashable, Sendable {
        /// The user has to sign in; the refresh token may still serve other requests.
        case interactionRequired

        /// The user has to sign in, and choose a new password.
        case passwordReset

        /// The refresh token is invalid, and is removed if it is still the stored one.
        case badToken

        /// The refresh token has ended and is not to be sent again.
        case tokenExpired

        /// The user is gone: so are the client's credentials for it.
        case accountDeleted

        /// The client is not of the family whose token it used.
        case clientMismatch

        /// The device or the app has to meet a policy first.
        case policyRequired

        /// The client's registration does not allow this.
        case clientMisconfigured

        /// The scope is not one that the issuer grants.
        case invalidScope

        /// It may pass.
        case transient

        fileprivate init(_ error: OAuthError) {
            self =
                switch (error.code, error.suberror) {
                case (.invalidGrant, "bad_token"): .badToken
                case (.invalidGrant, "token_expired"): .tokenExpired
                case (.invalidGrant, "user_account_deleted"): .accountDeleted
                case (.invalidGrant, "client_mismatch"): .clientMismatch
                case (.unauthorizedClient, "protection_policy_required"): .policyRequired
                case (.unauthorizedClient, _), (.invalidClient, _), (.unsupportedGrantType, _): .clientMisconfigured
                case (.invalidRequest, _): error.needsNewPassword ? .passwordReset : .clientMisconfigured
                case (.invalidScope, _): .invalidScope
                case (.serverError, _), (.temporarilyUnavailable, _), (.slowDown, _): .transient
                default: OAuthError.outages.contains(error.code.rawValue) ? .transient : .interactionRequired
                }
        }

        /// Whether another refresh token of the account may fare better.
        package var isAboutToken: Bool {
            switch self {
            case .interactionRequired, .badToken, .tokenExpired, .clientMismatch: true
            default: false
            }
        }
    }

    /// Whether the server did not take the proof of a key, and so nothing else of the request.
    package var isAboutProof: Bool { code == .invalidDPoPProof || code == .useDPoPNonce }

    package var meaning: Meaning { Meaning(self) }

    /// What some issuers call it when they cannot serve now, each in the words of one.
    ///
    /// Slack says so with status 200, and that the request may have had its effect.
    fileprivate static let outages: Set<String> = [
        "fatal_error", "internal_error", "internal_failure", "rate_limit_exceeded", "ratelimited",
        "service_unavailable", "too_many_attempts", "too_many_requests",
    ]

    /// Whether a client without a secret is refused as if it had forgotten it, as Google does.
    package var wantsSecret: Bool {
        code == .invalidRequest && serverDescription?.contains("client_secret") ?? false
    }

    /// Whether the person has to choose a new password first.
    package var needsNewPassword: Bool { numbers.contains(50_142) }

    /// Whether the person has to answer on a page of the issuer, as where consent is due.
    package var needsPage: Bool {
        (code == .interactionRequired || suberror == "consent_required") && !needsSecondFactor
    }

    /// Whether the person has to prove a second time who they are, which needs no page.
    package var needsSecondFactor: Bool { numbers.contains(50_076) }
}
