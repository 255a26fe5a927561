public import OAuth

/// Why an ID token is invalid.
public struct IDTokenFlaw: CodedError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It is not three parts of JSON in base64url without padding.
        public static let unreadable = Code(rawValue: "unreadable")
        /// It says one thing twice.
        public static let repeatedMember = Code(rawValue: "repeated_member")
        /// It needs an extension that is not known here.
        public static let criticalExtension = Code(rawValue: "critical_extension")
        /// It is a token of another kind, such as an access token.
        public static let type = Code(rawValue: "type")
        /// It is not signed, or by an algorithm that is not accepted.
        public static let algorithm = Code(rawValue: "algorithm")
        /// It is signed with a key that the issuer does not publish.
        public static let unknownKey = Code(rawValue: "unknown_key")
        /// The key it names is not for signatures, not for its algorithm, or another issuer's.
        public static let unsuitableKey = Code(rawValue: "unsuitable_key")
        /// It is signed with an RSA key of less than 2048 bits.
        public static let weakKey = Code(rawValue: "weak_key")
        /// The signature is not the issuer's.
        public static let signature = Code(rawValue: "signature")
        /// A claim that every ID token has is missing, or has the wrong type.
        public static let incomplete = Code(rawValue: "incomplete")
        /// It names another issuer.
        public static let issuer = Code(rawValue: "issuer")
        /// It is for another client.
        public static let audience = Code(rawValue: "audience")
        /// It was issued to another client.
        public static let authorizedParty = Code(rawValue: "authorized_party")
        /// It has expired, or is of a sign-in that is too old.
        public static let expired = Code(rawValue: "expired")
        /// It is not valid yet.
        public static let notYetValid = Code(rawValue: "not_yet_valid")
        /// It answers another request.
        public static let nonce = Code(rawValue: "nonce")
        /// It belongs to another access token.
        public static let accessToken = Code(rawValue: "access_token")
        /// It names another user.
        public static let subject = Code(rawValue: "subject")
        /// It names a user with control characters, which no name that is shown and stored may have.
        public static let subjectText = Code(rawValue: "subject_text")
        /// It is encrypted, to a key that a public client does not have.
        public static let encrypted = Code(rawValue: "encrypted")

        /// Those of this version; a later one may have more.
        public static let known = [
            unreadable, repeatedMember, criticalExtension, type, algorithm, unknownKey, unsuitableKey, weakKey,
            signature, incomplete, issuer, audience, authorizedParty, expired, notYetValid, nonce, accessToken,
            subject, subjectText, encrypted,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "OpenIDConnect.IDTokenFlaw" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public let problem: String

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }
}

extension IDTokenFlaw {
    package static let unreadable = IDTokenFlaw(.unreadable, "cannot be read")
    package static let repeatedMember = IDTokenFlaw(.repeatedMember, "says one thing twice")
    package static let criticalExtension = IDTokenFlaw(.criticalExtension, "needs an extension that is not known here")
    package static let type = IDTokenFlaw(.type, "is a token of another kind")
    package static let algorithm = IDTokenFlaw(.algorithm, "is not signed, or by an algorithm that is not accepted")
    package static let unknownKey = IDTokenFlaw(.unknownKey, "is signed with a key that the issuer does not publish")
    package static let unsuitableKey = IDTokenFlaw(.unsuitableKey, "names a key that is not for it")
    package static let weakKey = IDTokenFlaw(.weakKey, "is signed with an RSA key of less than 2048 bits")
    package static let signature = IDTokenFlaw(.signature, "has a signature that is not the issuer's")
    package static let issuer = IDTokenFlaw(.issuer, "names another issuer")
    package static let audience = IDTokenFlaw(.audience, "is for another client")
    package static let authorizedParty = IDTokenFlaw(.authorizedParty, "was issued to another client")
    package static let furtherAudiences = IDTokenFlaw(
        .authorizedParty,
        "is for others too, and does not say that it was issued to this client"
    )
    package static let expired = IDTokenFlaw(.expired, "has expired")
    package static let notYetValid = IDTokenFlaw(.notYetValid, "is not valid yet")
    package static let oldSignIn = IDTokenFlaw(
        .expired,
        "the issuer's ID token is not of a sign-in as recent as was asked for",
        .signIn("sign in again with the prompt login")
    )
    package static let nonce = IDTokenFlaw(.nonce, "answers another request")
    package static let accessToken = IDTokenFlaw(.accessToken, "belongs to another access token")
    package static let subject = IDTokenFlaw(.subject, "names another user")
    package static let subjectText = IDTokenFlaw(.subjectText, "names a user with control characters")
    package static let encrypted = IDTokenFlaw(.encrypted, "is encrypted, and there is no key to open it")

    package static let emptySubject = IDTokenFlaw(.incomplete, "names no user: its claim sub is empty")

    /// A claim that every ID token has is not there.
    package static func missing(_ claim: String) -> IDTokenFlaw { IDTokenFlaw(.incomplete, "lacks the claim \(claim)") }

    /// A claim is there, with another kind of value than it has by the standard.
    package static func mistyped(_ claim: String) -> IDTokenFlaw {
        IDTokenFlaw(.incomplete, "has a claim \(claim) that is not of the type which the standard says")
    }

    /// What is wrong with a text that is no ID token: one that is encrypted has five parts
    /// ([RFC 7516 §7.1](https://www.rfc-editor.org/rfc/rfc7516#section-7.1)).
    package init(undecodable token: Secret) {
        let dots = token.withUnsafeBytes { bytes in bytes.count { $0 == UInt8(ascii: ".") } }
        self = dots == 4 ? .encrypted : .unreadable
    }

    /// Whether the keys that the token was checked with may be old ones: an issuer may also replace a key under its id.
    package var mayBeOfOldKeys: Bool {
        switch code {
        case .unknownKey, .signature, .unsuitableKey, .weakKey: true
        default: false
        }
    }

    private init(_ code: Code, _ flaw: String) {
        let remedy: Remedy =
            switch code {
            case .expired, .notYetValid: Remedy(.correctClock, "check this machine's clock, then sign in again")
            case .weakKey, .algorithm:
                Remedy(
                    .askOperator,
                    "the issuer has to sign with RS256, PS256, ES256, ES384, ES512 or EdDSA and a strong key"
                )
            case .incomplete: Remedy(.askOperator, "report it to the operator of the issuer")
            case .encrypted:
                Remedy(.checkRegistration, "have the client registered for ID tokens that are signed and not encrypted")
            default: .signIn("check the authority, then sign in again")
            }
        self.init(code, "the issuer's ID token \(flaw)", remedy)
    }
}
