import Crypto
import OAuth

/// What shows that whoever redeems a code is who asked for it ([RFC 7636](https://www.rfc-editor.org/rfc/rfc7636)).
struct ProofKey: Sendable {
    /// Sent with the code, never before.
    let verifier = Secret.random()

    /// Sent with the authorization request; S256 is the only method.
    var challenge: String { verifier.withUnsafeBytes { Base64URL.encode(SHA256.hash(data: $0)) } }
}

extension Secret {
    /// A text of 256 bits from the kernel's randomness.
    static func random() -> Secret {
        SymmetricKey(size: .bits256).withUnsafeBytes { Secret(Base64URL.encode($0)) }
    }
}
