import Crypto
import CryptoExtras
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The algorithms that an ID token may be signed with ([RFC 7518 §3.1](https://www.rfc-editor.org/rfc/rfc7518#section-3.1),
/// [RFC 8037](https://www.rfc-editor.org/rfc/rfc8037)): none without a key pair, so that what is public signs nothing.
enum SignatureAlgorithm: String, Sendable {
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

    var padding: _RSA.Signing.Padding {
        switch self {
        case .ps256, .ps384, .ps512: .PSS
        default: .insecurePKCS1v1_5
        }
    }

    /// What `at_hash` says of an access token: the left half of its digest
    /// ([OpenID Connect Core §3.1.3.6](https://openid.net/specs/openid-connect-core-1_0.html#CodeIDToken)).
    func accessTokenHash(_ token: Secret) -> Secret {
        let digest: [UInt8] = token.withUnsafeBytes { bytes in
            switch self {
            case .rs256, .ps256, .es256: Array(SHA256.hash(data: bytes))
            case .rs384, .ps384, .es384: Array(SHA384.hash(data: bytes))
            // The hash inside Ed25519 is SHA-512, which is what issuers take.
            case .rs512, .ps512, .es512, .edDSA: Array(SHA512.hash(data: bytes))
            }
        }
        return Secret(Base64URL.encode(digest.prefix(digest.count / 2)))
    }
}
