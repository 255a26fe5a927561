import Crypto
import CryptoExtras
import Foundation
import JWTKit
import OAuth
import Testing

/// A key pair that signs anything, in order or not, and its public half as a key set shows it.
struct KeyPair: Sendable, CustomTestStringConvertible {
    let algorithm: String
    let jwk: OAuth.JSON.Object
    let sign: @Sendable (String) throws -> Data

    /// Lets jwt-kit sign with the pair, under the key id `k`.
    let lend: @Sendable (JWTKeyCollection) async throws -> Void

    var testDescription: String { algorithm }

    /// The public key as a list of one, with other members in the place of its own.
    func set(_ changes: KeyValuePairs<String, OAuth.JSON?> = [:]) -> OAuth.JSON.Object {
        var key = jwk
        for (name, value) in changes { key[name] = value }
        return OAuth.JSON.Object([("keys", .array([.object(key)]))])
    }

    /// One pair for each algorithm that has to be accepted, and another that nobody publishes.
    static let all: Result<[(own: KeyPair, other: KeyPair)], any Error> = Result {
        let rsa = try (0..<2).map { _ in try _RSA.Signing.PrivateKey(keySize: .bits2048) }
        return try [
            (.rsa(rsa[0], isPSS: false), .rsa(rsa[1], isPSS: false)),
            (.rsa(rsa[0], isPSS: true), .rsa(rsa[1], isPSS: true)),
            (.p256(), .p256()), (.ed25519(), .ed25519()),
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
        let point = key.publicKey.rawRepresentation
        return KeyPair(
            algorithm: "ES256",
            jwk: jwk("EC", "ES256", curve: "P-256", [("x", point.prefix(32)), ("y", point.suffix(32))]),
            sign: { [key] in try key.signature(for: Data($0.utf8)).rawRepresentation },
            lend: { [key] in await $0.add(ecdsa: try ES256PrivateKey(backing: key), kid: "k") }
        )
    }

    private static func ed25519() -> KeyPair {
        let key = Curve25519.Signing.PrivateKey()
        return KeyPair(
            algorithm: "EdDSA",
            jwk: jwk("OKP", "EdDSA", curve: "Ed25519", [("x", key.publicKey.rawRepresentation)]),
            sign: { try key.signature(for: Data($0.utf8)) },
            lend: { await $0.add(eddsa: EdDSA.PrivateKey(backing: key), kid: "k") }
        )
    }

    private static func jwk(
        _ type: String,
        _ algorithm: String,
        curve: String? = nil,
        _ numbers: [(String, Data)]
    ) -> OAuth.JSON.Object {
        OAuth.JSON.Object(
            [("kty", .string(type)), ("kid", "k"), ("use", "sig"), ("alg", .string(algorithm))]
                + (curve.map { [("crv", .string($0))] } ?? [])
                + numbers.map { ($0.0, .string(Base64URL.encode($0.1))) }
        )
    }
}
