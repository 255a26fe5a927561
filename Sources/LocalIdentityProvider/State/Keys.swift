import Crypto
import CryptoExtras
import Foundation
import JWTKit
import OAuth

/// The signing keys of every issuer, made when an issuer is first used.
actor Keys {
    private let clock: ProviderClock
    /// Of each issuer the key that signs, the next one, listed early so that clients know it, and the retiring ones.
    private var rings: [String: Task<[SigningKey], any Error>] = [:]
    private var spare: [String]

    init(clock: ProviderClock, spare: [String]) {
        self.clock = clock
        self.spare = spare
    }

    func active(for realm: Realm) async throws -> SigningKey { try await ring(of: realm)[0] }

    /// The issuer's key set as JSON (RFC 7517 section 5).
    func published(for realm: Realm) async throws -> JSONValue {
        let listed = try await ring(of: realm).filter { $0.retiresAt ?? .distantFuture > clock.now }
        return ["keys": .array(listed.map(\.jwk))]
    }

    func rotate(_ realm: Realm) async throws {
        let ring = try await ring(of: realm)
        var old = ring[0]
        old.retiresAt = clock.now + Lifetime.retiringKey
        let next = try await make(realm.tenant.algorithm)
        rings[realm.issuer] = Task { [old] in [ring[1], next] + ring.dropFirst(2) + [old] }
    }

    private func ring(of realm: Realm) async throws -> [SigningKey] {
        let algorithm = realm.tenant.algorithm
        let ring = rings[realm.issuer] ?? Task { [try await make(algorithm), try await make(algorithm)] }
        rings[realm.issuer] = ring
        return try await ring.value
    }

    private func make(_ algorithm: SigningAlgorithm) async throws -> SigningKey {
        try await .make(algorithm, pem: algorithm == .rs256 ? spare.popLast() : nil)
    }
}

struct SigningKey: Sendable {
    let id: String
    let algorithm: SigningAlgorithm
    /// The public half as the key set shows it (RFC 7517).
    let jwk: JSONValue
    /// When the key set stops listing it; nil while it signs or waits to.
    var retiresAt: Date?
    let keys: JWTKeyCollection

    func sign(_ claims: SignedClaims) async throws -> String {
        try await keys.sign(claims, kid: JWKIdentifier(string: id))
    }

    /// Makes a key, or takes the RSA key in `pem`, which saves tests the time to find primes.
    static func make(_ algorithm: SigningAlgorithm, pem: String?) async throws -> SigningKey {
        let id = RandomToken.bytes(12).base64URL
        let keys = JWTKeyCollection()
        var jwk: [String: JSONValue] = ["kid": .string(id), "use": "sig", "alg": .string(algorithm.rawValue)]
        switch algorithm {
        case .rs256:
            let key =
                try pem.map { try _RSA.Signing.PrivateKey(pemRepresentation: $0) }
                ?? _RSA.Signing.PrivateKey(keySize: .bits2048)
            await keys.add(
                rsa: try Insecure.RSA.PrivateKey(backing: key),
                digestAlgorithm: .sha256,
                kid: .init(string: id)
            )
            let numbers = try key.publicKey.getKeyPrimitives()
            jwk["kty"] = "RSA"
            jwk["n"] = .string(numbers.modulus.base64URL)
            jwk["e"] = .string(numbers.publicExponent.base64URL)
        case .es256:
            let key = P256.Signing.PrivateKey()
            await keys.add(ecdsa: try ES256PrivateKey(backing: key), kid: .init(string: id))
            let point = key.publicKey.rawRepresentation
            jwk["kty"] = "EC"
            jwk["crv"] = "P-256"
            jwk["x"] = .string(point.prefix(32).base64URL)
            jwk["y"] = .string(point.suffix(32).base64URL)
        }
        return SigningKey(id: id, algorithm: algorithm, jwk: JSONValue(jwk), retiresAt: nil, keys: keys)
    }
}
