import Crypto
import CryptoExtras
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A signed token as it travels, taken apart ([RFC 7515 §7.1](https://www.rfc-editor.org/rfc/rfc7515#section-7.1)).
///
/// One text has one meaning: what another reader could take for something else is not read at all.
struct CompactJWS: Sendable {
    let algorithm: SignatureAlgorithm
    let keyID: String?
    let claims: Claims
    let signature: [UInt8]

    /// The bytes that were signed.
    let message: [UInt8]

    /// - Throws: ``IDTokenFlaw`` if the text is not in the strict form, or requires an unsupported feature.
    init(_ token: Secret) throws(IDTokenFlaw) {
        var parts: [[UInt8]] = []
        message = try token.withUnsafeBytes { bytes throws(IDTokenFlaw) in
            let texts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard texts.count == 3 else { throw .unreadable }
            for text in texts { parts.append(try Self.decode(text)) }
            return Array(bytes.prefix(texts[0].count + 1 + texts[1].count))
        }
        let header = try Self.object(parts[0])
        claims = Claims(try Self.unambiguous(try? IDToken.object(parts[1])))
        signature = parts[2]
        // RFC 7515 §4.1.11: a critical header that is not understood makes the token invalid; none is understood here.
        guard header["crit"] == nil else { throw .criticalExtension }
        guard !Self.isOtherType(header["typ"]) else { throw .type }
        guard let algorithm = header["alg"]?.text.flatMap({ SignatureAlgorithm(exactly: $0) }) else { throw .algorithm }
        self.algorithm = algorithm
        keyID = header["kid"]?.text
        guard keyID != nil || header["kid"] == nil else { throw .unreadable }
        guard !signature.isEmpty else { throw .signature }
    }

    /// Base64url without padding; white space, the other alphabet and left-over bits are refused by the decoder.
    private static func decode(_ text: Slice<UnsafeRawBufferPointer>) throws(IDTokenFlaw) -> [UInt8] {
        guard text.last != UInt8(ascii: "="), let bytes = Base64URL.decode(text) else { throw .unreadable }
        return bytes
    }

    private static func object(_ bytes: [UInt8]) throws(IDTokenFlaw) -> JSONValue.Object {
        // The position of a JSON error is of no use to the person who signs in.
        try unambiguous(bytes.withUnsafeBytes { try? JSONValue(parsing: $0).object })
    }

    private static func unambiguous(_ object: JSONValue.Object?) throws(IDTokenFlaw) -> JSONValue.Object {
        guard let object else { throw .unreadable }
        guard !object.repeatsName else { throw .repeatedMember }
        return object
    }

    /// Whether the token says that it is of another type, such as `at+jwt`
    /// ([RFC 8725 §3.11](https://www.rfc-editor.org/rfc/rfc8725#section-3.11)).
    private static func isOtherType(_ type: JSONValue?) -> Bool {
        guard let type else { return false }
        return type.text?.lowercased().utf8.suffix(4).elementsEqual("+jwt".utf8) ?? true
    }
}

extension JSONValue.Object {
    /// Whether two members have one name, of which readers take the one or the other.
    var repeatsName: Bool {
        var seen: Set<ExactText> = []
        return !members.allSatisfy { seen.insert(ExactText($0.name)).inserted }
    }
}

/// The algorithms that an ID token may be signed with ([RFC 7518
/// §3.1](https://www.rfc-editor.org/rfc/rfc7518#section-3.1), [RFC 8037](https://www.rfc-editor.org/rfc/rfc8037), [RFC
/// 9864](https://www.rfc-editor.org/rfc/rfc9864)): only those with a key pair, so that a public key cannot be used to
/// sign.
enum SignatureAlgorithm: String, CaseIterable, Sendable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
    case ed25519 = "Ed25519"

    /// Whether a key that names an algorithm is for this one: the only curve here has an old name and a new one.
    func isMeant(by name: String) -> Bool {
        switch self {
        case .edDSA, .ed25519: [Self.edDSA, .ed25519].contains { $0.rawValue.hasSameBytes(as: name) }
        default: rawValue.hasSameBytes(as: name)
        }
    }

    var padding: _RSA.Signing.Padding {
        switch self {
        case .ps256, .ps384, .ps512: .PSS
        default: .insecurePKCS1v1_5
        }
    }

    /// What `at_hash` may say of an access token: the left half of its digest
    /// ([OpenID Connect Core §3.1.3.6](https://openid.net/specs/openid-connect-core-1_0.html#CodeIDToken)).
    ///
    /// Some issuers, such as Ory Hydra, take SHA-256 with every algorithm, which ties the two just as well.
    func accessTokenHashes(_ token: Secret) -> [Secret] {
        let digests: [[UInt8]] = token.withUnsafeBytes { bytes in
            let usual = Array(SHA256.hash(data: bytes))
            return switch self {
            case .rs256, .ps256, .es256: [usual]
            case .rs384, .ps384, .es384: [Array(SHA384.hash(data: bytes)), usual]
            // The hash inside Ed25519 is SHA-512, which is what issuers take.
            case .rs512, .ps512, .es512, .edDSA, .ed25519: [Array(SHA512.hash(data: bytes)), usual]
            }
        }
        return digests.map { Secret(Base64URL.encode($0.prefix($0.count / 2))) }
    }
}
