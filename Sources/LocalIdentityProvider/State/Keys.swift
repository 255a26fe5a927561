import Foundation

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
    func published(for realm: Realm) async throws -> JSON {
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
