/// What is wrong with an ID token.
public enum IDTokenFlaw: String, Error, Hashable, CustomStringConvertible {
    /// It is not three parts of JSON in base64url without padding.
    case unreadable
    case repeatedMember
    case criticalExtension

    /// It is a token of another kind, such as an access token.
    case type

    /// It is not signed, or by an algorithm that is not accepted.
    case algorithm

    /// Newer keys may be worth fetching.
    case unknownKey

    /// The key it names is not for signatures, not for its algorithm, or another issuer's.
    case unsuitableKey
    case weakKey
    case signature

    /// A claim that every ID token has is missing, or is no text or number where it has to be.
    case incomplete
    case issuer
    case audience
    case authorizedParty
    case expired
    case notYetValid
    case nonce

    /// It belongs to another access token.
    case accessToken
    case subject

    /// It names a user with control characters, which no name that is shown and stored may have.
    case subjectText

    public var description: String { "the issuer's ID token \(flaw); \(advice)" }

    private var flaw: String {
        switch self {
        case .unreadable: "cannot be read"
        case .repeatedMember: "says one thing twice"
        case .criticalExtension: "needs an extension that is not known here"
        case .type: "is a token of another kind"
        case .algorithm: "is not signed, or by an algorithm that is not accepted"
        case .unknownKey: "is signed with a key that the issuer does not publish"
        case .unsuitableKey: "names a key that is not for it"
        case .weakKey: "is signed with an RSA key of less than 2048 bits"
        case .signature: "has a signature that is not the issuer's"
        case .incomplete: "lacks a claim that it needs"
        case .issuer: "names another issuer"
        case .audience: "is for another client"
        case .authorizedParty: "was issued to another client"
        case .expired: "has expired"
        case .notYetValid: "is not valid yet"
        case .nonce: "answers another request"
        case .accessToken: "belongs to another access token"
        case .subject: "names another user"
        case .subjectText: "names a user with control characters"
        }
    }

    private var advice: String {
        switch self {
        case .expired, .notYetValid: "check this machine's clock, then sign in again"
        case .weakKey, .algorithm:
            "the issuer has to sign with RS256, PS256, ES256, ES384, ES512 or EdDSA and a strong key"
        default: "check the authority, then sign in again"
        }
    }
}
