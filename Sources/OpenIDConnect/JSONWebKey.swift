import Crypto
import CryptoExtras
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A public key that signatures are checked with ([RFC 7517](https://www.rfc-editor.org/rfc/rfc7517)).
///
/// The algorithm follows from the key, never from the token: RS256, RS384 and RS512 for RSA, ES256 for P-256.
struct JSONWebKey: Sendable {
    private enum Material: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
    }

    let id: String?
    private let algorithm: String?
    private let material: Material

    /// nil for a key that is not for signatures, of a kind not known here, or too weak: it checks nothing.
    init?(_ value: JSON) {
        guard let object = value.object, object["use"]?.text ?? "sig" == "sig" else { return nil }
        func bytes(_ name: String) -> [UInt8]? { object[name]?.text.flatMap { Base64URL.decode($0.utf8) } }
        switch object["kty"]?.text {
        case "RSA":
            guard let modulus = bytes("n"), let exponent = bytes("e"), modulus.drop(while: { $0 == 0 }).count >= 256,
                // Numbers that make no key make no match either.
                let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent)
            else { return nil }
            material = .rsa(key)
        case "EC":
            guard object["crv"]?.text == "P-256", let x = bytes("x"), let y = bytes("y"), x.count == 32, y.count == 32,
                // A point off the curve makes no key, and so no match.
                let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
            else { return nil }
            material = .p256(key)
        default: return nil
        }
        id = object["kid"]?.text
        algorithm = object["alg"]?.text
    }

    /// Whether `signature` is this key's under `algorithm`.
    func verifies(_ signature: [UInt8], of message: some DataProtocol, algorithm named: String) -> Bool {
        guard algorithm == nil || algorithm == named else { return false }
        switch (material, named) {
        case (.p256(let key), "ES256"):
            // Of another length it is no signature.
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: SHA256.hash(data: message))
        case (.rsa(let key), "RS256"): return key.verifies(signature, SHA256.hash(data: message))
        case (.rsa(let key), "RS384"): return key.verifies(signature, SHA384.hash(data: message))
        case (.rsa(let key), "RS512"): return key.verifies(signature, SHA512.hash(data: message))
        default: return false
        }
    }
}

extension _RSA.Signing.PublicKey {
    fileprivate func verifies(_ signature: [UInt8], _ digest: some Digest) -> Bool {
        isValidSignature(.init(rawRepresentation: signature), for: digest, padding: .insecurePKCS1v1_5)
    }
}
