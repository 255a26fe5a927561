import Crypto
import CryptoExtras
package import OAuth

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
        case p384(P384.Signing.PublicKey)
        case p521(P521.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
    }

    /// What may be too long to be worth checking anything with: 8192 bits.
    private static let largestModulus = 1_024

    let id: String?

    /// The issuers whose tokens it signs, where a key set serves several (Microsoft's `issuer`).
    let issuer: String?
    private let algorithm: String?
    private let material: Result<Material, IDTokenFlaw>

    /// nil if it is not a key; a key that cannot verify anything says why when it is used.
    init?(_ value: JSONValue) {
        guard let object = value.object else { return nil }
        id = object["kid"]?.text
        issuer = object["issuer"]?.text
        algorithm = object["alg"]?.text
        material = Result { () throws(IDTokenFlaw) in try Self.material(object) }
    }

    private static func material(_ object: JSONValue.Object) throws(IDTokenFlaw) -> Material {
        guard !object.repeatsName, isForSignatures(object) else { throw .unsuitableKey }
        func bytes(_ name: String) -> [UInt8]? { object[name]?.text.flatMap { Base64URL.decode($0.utf8) } }
        let material: Material?
        switch (object["kty"], object["crv"]) {
        case ("RSA", _):
            guard let modulus = bytes("n").map({ Array($0.drop { $0 == 0 }) }), let exponent = bytes("e"),
                modulus.count <= largestModulus
            else { throw .unsuitableKey }
            guard modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0) >= 2_048 else { throw .weakKey }
            // Numbers that make no key check nothing; nor do points off the curve below.
            material = (try? _RSA.Signing.PublicKey(n: modulus, e: exponent)).map { .rsa($0) }
        case ("EC", "P-256"):
            let point = try Self.point(bytes("x"), bytes("y"), size: 32)
            material = (try? P256.Signing.PublicKey(rawRepresentation: point)).map { .p256($0) }
        case ("EC", "P-384"):
            let point = try Self.point(bytes("x"), bytes("y"), size: 48)
            material = (try? P384.Signing.PublicKey(rawRepresentation: point)).map { .p384($0) }
        case ("EC", "P-521"):
            let point = try Self.point(bytes("x"), bytes("y"), size: 66)
            material = (try? P521.Signing.PublicKey(rawRepresentation: point)).map { .p521($0) }
        case ("OKP", "Ed25519"):
            guard let x = bytes("x"), x.count == 32 else { throw .unsuitableKey }
            material = (try? Curve25519.Signing.PublicKey(rawRepresentation: x)).map { .ed25519($0) }
        default: throw .unsuitableKey
        }
        guard let material else { throw .unsuitableKey }
        return material
    }

    /// Whether the key is published for signatures, or for nothing in particular: some servers write null or an empty
    /// list where others leave the member out.
    private static func isForSignatures(_ object: JSONValue.Object) -> Bool {
        if let use = object["use"], !use.isNull, use != "sig" { return false }
        guard let operations = object["key_ops"], !operations.isNull, operations.array?.isEmpty != true else {
            return true
        }
        return operations.array?.contains(.string("verify")) ?? false
    }

    /// Two numbers of `size` bytes; some servers leave their leading zeros out, and some write one more.
    private static func point(_ x: [UInt8]?, _ y: [UInt8]?, size: Int) throws(IDTokenFlaw) -> [UInt8] {
        var point: [UInt8] = []
        for coordinate in [x, y] {
            guard let digits = coordinate?.drop(while: { $0 == 0 }), digits.count <= size else { throw .unsuitableKey }
            point += repeatElement(0, count: size - digits.count)
            point += digits
        }
        return point
    }

    /// Whether the signature of `token` is this key's.
    ///
    /// - Throws: ``IDTokenFlaw`` if the key is not for the token's algorithm, or for no signature at all.
    func signed(_ token: CompactJWS) throws(IDTokenFlaw) -> Bool {
        guard algorithm.map(token.algorithm.isMeant) ?? true else { throw .unsuitableKey }
        switch (try material.get(), token.algorithm) {
        case (.rsa(let key), .rs256), (.rsa(let key), .ps256):
            return key.signed(token, SHA256.hash(data: token.message))
        case (.rsa(let key), .rs384), (.rsa(let key), .ps384):
            return key.signed(token, SHA384.hash(data: token.message))
        case (.rsa(let key), .rs512), (.rsa(let key), .ps512):
            return key.signed(token, SHA512.hash(data: token.message))
        case (.p256(let key), .es256): return key.signed(token)
        case (.p384(let key), .es384): return key.signed(token)
        case (.p521(let key), .es512): return key.signed(token)
        case (.ed25519(let key), .edDSA), (.ed25519(let key), .ed25519):
            return key.isValidSignature(token.signature, for: token.message)
        default: throw .unsuitableKey
        }
    }
}

extension _RSA.Signing.PublicKey {
    fileprivate func signed(_ token: CompactJWS, _ digest: some Digest) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: token.signature)
        return isValidSignature(signature, for: digest, padding: token.algorithm.padding)
    }
}

// A signature has the length of the two numbers of its curve.
extension P256.Signing.PublicKey {
    fileprivate func signed(_ token: CompactJWS) -> Bool {
        (try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)).map {
            isValidSignature($0, for: SHA256.hash(data: token.message))
        } ?? false
    }
}

extension P384.Signing.PublicKey {
    fileprivate func signed(_ token: CompactJWS) -> Bool {
        (try? P384.Signing.ECDSASignature(rawRepresentation: token.signature)).map {
            isValidSignature($0, for: SHA384.hash(data: token.message))
        } ?? false
    }
}

extension P521.Signing.PublicKey {
    fileprivate func signed(_ token: CompactJWS) -> Bool {
        (try? P521.Signing.ECDSASignature(rawRepresentation: token.signature)).map {
            isValidSignature($0, for: SHA512.hash(data: token.message))
        } ?? false
    }
}

/// The keys that an issuer signs with.
package struct JSONWebKeySet: Sendable {
    private let keys: [JSONWebKey]

    package init(_ document: JSONValue.Object) {
        keys = (document["keys"]?.array ?? []).compactMap(JSONWebKey.init)
    }

    package var isEmpty: Bool { keys.isEmpty }

    /// Whether `token` is signed with none of the keys, so that newer ones may fit: under another id, or the same.
    package func isOutdated(for token: IDToken) -> Bool {
        do {
            try IDTokenValidator.checkSignature(of: token, keys: self)
            return false
        } catch {
            return error.mayBeOfOldKeys
        }
    }

    /// The key that signed `token`.
    ///
    /// - Throws: ``IDTokenFlaw``; ``IDTokenFlaw/unknownKey`` where newer keys may fit better.
    func signer(of token: CompactJWS) throws(IDTokenFlaw) -> JSONWebKey {
        let named = token.keyID.map { id in keys.filter { $0.id?.hasSameBytes(as: id) == true } } ?? []
        // Where nothing is named, on one side or the other, any key may be meant.
        let candidates = named.isEmpty ? keys.filter { token.keyID == nil || $0.id == nil } : named
        var flaw: IDTokenFlaw?
        for key in candidates {
            do {
                if try key.signed(token) { return key }
                flaw = .signature
            } catch {
                flaw = flaw ?? error
            }
        }
        guard !named.isEmpty, let flaw else { throw .unknownKey }
        throw flaw
    }
}
