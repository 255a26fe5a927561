import Crypto
import CryptoExtras
import Foundation
import JWTKit
import OAuth
import Testing

/// A key pair that signs anything, in order or not, and its public half as a key set shows it.
struct KeyPair: Sendable, CustomTestStringConvertible {
    let algorithm: String
    let jwk: JSONValue.Object
    let sign: @Sendable (String) throws -> Data

    /// Lets jwt-kit sign with the pair, under the key id `k`.
    let lend: @Sendable (JWTKeyCollection) async throws -> Void

    var testDescription: String { algorithm }

    /// The public key as a list of one, with other members replacing its own.
    func set(_ changes: KeyValuePairs<String, JSONValue?> = [:]) -> JSONValue.Object {
        var key = jwk
        for (name, value) in changes { key[name] = value }
        return JSONValue.Object([("keys", .array([.object(key)]))])
    }

    /// One pair for each algorithm that has to be accepted, and another that is not published.
    static let all: Result<[(own: KeyPair, other: KeyPair)], any Error> = Result {
        let rsa = try (0..<2).map { _ in try _RSA.Signing.PrivateKey(keySize: .bits2048) }
        return try [
            (.rsa(rsa[0], isPSS: false), .rsa(rsa[1], isPSS: false)),
            (.rsa(rsa[0], isPSS: true), .rsa(rsa[1], isPSS: true)),
            (.p256(), .p256()), (.p384(), .p384()), (.p521(), .p521()), (.ed25519(), .ed25519()),
            (.ed25519(named: "Ed25519"), .ed25519(named: "Ed25519")),
        ]
    }

    static func of(_ algorithm: String) throws -> (own: KeyPair, other: KeyPair) {
        try #require(try all.get().first { $0.own.algorithm == algorithm })
    }

    static func rsa(_ key: _RSA.Signing.PrivateKey, isPSS: Bool) throws -> KeyPair {
        let numbers = try key.publicKey.getKeyPrimitives()
        let padding = isPSS ? _RSA.Signing.Padding.PSS : .insecurePKCS1v1_5
        return KeyPair(
            algorithm: isPSS ? "PS256" : "RS256",
            jwk: jwk("RSA", isPSS ? "PS256" : "RS256", [("n", numbers.modulus), ("e", numbers.publicExponent)]),
            sign: { try key.signature(for: SHA256.hash(data: Data($0.utf8)), padding: padding).rawRepresentation },
            lend: { keys in
                let key = try Insecure.RSA.PrivateKey(backing: key)
                if isPSS {
                    await keys.add(pss: key, digestAlgorithm: .sha256, kid: "k")
                } else {
                    await keys.add(rsa: key, digestAlgorithm: .sha256, kid: "k")
                }
            }
        )
    }

    /// A pair whose public point is as wanted.
    static func p256(where isWanted: (Data) -> Bool = { _ in true }) -> KeyPair {
        var key = P256.Signing.PrivateKey()
        while !isWanted(key.publicKey.rawRepresentation) { key = P256.Signing.PrivateKey() }
        return KeyPair(
            algorithm: "ES256",
            jwk: jwk("ES256", curve: "P-256", point: key.publicKey.rawRepresentation),
            sign: { [key] in try key.signature(for: Data($0.utf8)).rawRepresentation },
            lend: { [key] in await $0.add(ecdsa: try ES256PrivateKey(backing: key), kid: "k") }
        )
    }

    static func p384(where isWanted: (Data) -> Bool = { _ in true }) -> KeyPair {
        var key = P384.Signing.PrivateKey()
        while !isWanted(key.publicKey.rawRepresentation) { key = P384.Signing.PrivateKey() }
        return KeyPair(
            algorithm: "ES384",
            jwk: jwk("ES384", curve: "P-384", point: key.publicKey.rawRepresentation),
            sign: { [key] in try key.signature(for: Data($0.utf8)).rawRepresentation },
            lend: { [key] in await $0.add(ecdsa: try ES384PrivateKey(backing: key), kid: "k") }
        )
    }

    static func p521(where isWanted: (Data) -> Bool = { _ in true }) -> KeyPair {
        var key = P521.Signing.PrivateKey()
        while !isWanted(key.publicKey.rawRepresentation) { key = P521.Signing.PrivateKey() }
        return KeyPair(
            algorithm: "ES512",
            jwk: jwk("ES512", curve: "P-521", point: key.publicKey.rawRepresentation),
            sign: { [key] in try key.signature(for: Data($0.utf8)).rawRepresentation },
            lend: { [key] in await $0.add(ecdsa: try ES512PrivateKey(backing: key), kid: "k") }
        )
    }

    private static func ed25519(named name: String = "EdDSA") -> KeyPair {
        let key = Curve25519.Signing.PrivateKey()
        return KeyPair(
            algorithm: name,
            jwk: jwk("OKP", name, curve: "Ed25519", [("x", key.publicKey.rawRepresentation)]),
            sign: { try key.signature(for: Data($0.utf8)) },
            lend: { await $0.add(eddsa: EdDSA.PrivateKey(backing: key), kid: "k") }
        )
    }

    private static func jwk(_ algorithm: String, curve: String, point: Data) -> JSONValue.Object {
        let size = point.count / 2
        return jwk("EC", algorithm, curve: curve, [("x", point.prefix(size)), ("y", point.suffix(size))])
    }

    private static func jwk(
        _ type: String,
        _ algorithm: String,
        curve: String? = nil,
        _ numbers: [(String, Data)]
    ) -> JSONValue.Object {
        JSONValue.Object(
            [("kty", .string(type)), ("kid", "k"), ("use", "sig"), ("alg", .string(algorithm))]
                + (curve.map { [("crv", .string($0))] } ?? [])
                + numbers.map { ($0.0, .string(Base64URL.encode($0.1))) }
        )
    }
}
