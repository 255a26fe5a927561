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
/// Which algorithms it checks follows from the key, never from the token.
struct JSONWebKey: Sendable {
    private enum Material: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    /// What may be too long to be worth checking anything with: 8192 bits.
    private static let largestModulus = 1_024

    let id: String?

    /// The issuers whose tokens it signs, where a key set serves several (Microsoft's `issuer`).
    let issuer: String?
    private let algorithm: String?
    private let material: Result<Material, IDTokenFlaw>

    /// nil for what is no key at all; a key that checks nothing says why when it is used.
    init?(_ value: JSON) {
        guard let object = value.object else { return nil }
        id = object["kid"]?.text
        issuer = object["issuer"]?.text
        algorithm = object["alg"]?.text
        material = Result { () throws(IDTokenFlaw) in try Self.material(object) }
    }

    private static func material(_ object: JSON.Object) throws(IDTokenFlaw) -> Material {
        guard !object.repeatsName, object["use"].map({ $0.text == "sig" }) ?? true,
            object["key_ops"].map({ $0.array?.contains(.string("verify")) ?? false }) ?? true
        else { throw .unsuitableKey }
        func bytes(_ name: String) -> [UInt8]? { object[name]?.text.flatMap { Base64URL.decode($0.utf8) } }
        let material: Material?
        switch (object["kty"]?.text, object["crv"]?.text) {
        case ("RSA", _):
            guard let modulus = bytes("n").map({ Array($0.drop { $0 == 0 }) }), let exponent = bytes("e"),
                modulus.count <= largestModulus
            else { throw .unsuitableKey }
            guard modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0) >= 2_048 else { throw .weakKey }
            // Numbers that make no key check nothing; nor do points off the curve below.
            material = (try? _RSA.Signing.PublicKey(n: modulus, e: exponent)).map { .rsa($0) }
        case ("EC", "P-256"):
            guard let x = coordinate(bytes("x")), let y = coordinate(bytes("y")) else { throw .unsuitableKey }
            material = (try? P256.Signing.PublicKey(rawRepresentation: x + y)).map { .p256($0) }
        case ("OKP", "Ed25519"):
            guard let x = bytes("x"), x.count == 32 else { throw .unsuitableKey }
            material = (try? Curve25519.Signing.PublicKey(rawRepresentation: x)).map { .ed25519($0) }
        default: throw .unsuitableKey
        }
        guard let material else { throw .unsuitableKey }
        return material
    }

    /// A number of 32 bytes; some servers leave its leading zeros out, and some write one more.
    private static func coordinate(_ bytes: [UInt8]?) -> [UInt8]? {
        guard let digits = bytes?.drop(while: { $0 == 0 }), digits.count <= 32 else { return nil }
        return Array(repeating: 0, count: 32 - digits.count) + digits
    }

    /// Whether the signature of `token` is this key's.
    ///
    /// - Throws: ``IDTokenFlaw`` if the key is not for the token's algorithm, or for no signature at all.
    func signed(_ token: CompactJWS) throws(IDTokenFlaw) -> Bool {
        guard algorithm == nil || algorithm == token.algorithm.rawValue else { throw .unsuitableKey }
        switch (try material.get(), token.algorithm.keyType.type) {
        case (.rsa(let key), "RSA"): return key.signed(token)
        case (.p256(let key), "EC"):
            // Of another length it is no signature.
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature) else {
                return false
            }
            return key.isValidSignature(signature, for: SHA256.hash(data: token.message))
        case (.ed25519(let key), "OKP"): return key.isValidSignature(token.signature, for: token.message)
        default: throw .unsuitableKey
        }
    }
}

extension _RSA.Signing.PublicKey {
    fileprivate func signed(_ token: CompactJWS) -> Bool {
        switch token.algorithm {
        case .rs256, .ps256: verifies(token, SHA256.hash(data: token.message))
        case .rs384, .ps384: verifies(token, SHA384.hash(data: token.message))
        case .rs512, .ps512: verifies(token, SHA512.hash(data: token.message))
        case .es256, .edDSA: false
        }
    }

    private func verifies(_ token: CompactJWS, _ digest: some Digest) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: token.signature)
        return isValidSignature(signature, for: digest, padding: token.algorithm.padding)
    }
}
