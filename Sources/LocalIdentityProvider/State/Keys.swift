import Foundation
import JWTKit

/// The signing keys of every issuer, made when an issuer is first used.
actor Keys {
    private struct Ring {
        var active: SigningKey
        /// Listed before it signs, so that clients know it when the rotation comes.
        var next: SigningKey
        var retiring: [SigningKey] = []
    }

    private let clock: ProviderClock
    private var rings: [String: Ring] = [:]
    private var making: [String: Task<Ring, any Error>] = [:]
    private var spare: [String]

    init(clock: ProviderClock, spare: [String]) {
        self.clock = clock
        self.spare = spare
    }

    func active(for realm: Realm) async throws -> SigningKey { try await ring(of: realm).active }

    /// The issuer's key set as JSON (RFC 7517 section 5).
    func published(for realm: Realm) async throws -> JSON {
        let ring = try await ring(of: realm)
        let retiring = ring.retiring.filter { ($0.retiresAt ?? .distantPast) > clock.now }
        return ["keys": .array(([ring.active, ring.next] + retiring).map(\.jwk))]
    }

    func rotate(_ realm: Realm) async throws {
        var ring = try await ring(of: realm)
        var old = ring.active
        old.retiresAt = clock.now + TimeInterval(Lifetime.retiringKey)
        ring.retiring.append(old)
        ring.active = ring.next
        ring.next = try await make(realm.algorithm)
        rings[realm.issuer] = ring
    }

    private func ring(of realm: Realm) async throws -> Ring {
        if let ring = rings[realm.issuer] { return ring }
        let task =
            making[realm.issuer]
            ?? Task { Ring(active: try await make(realm.algorithm), next: try await make(realm.algorithm)) }
        making[realm.issuer] = task
        defer { making[realm.issuer] = nil }
        let ring = try await task.value
        if rings[realm.issuer] == nil { rings[realm.issuer] = ring }
        return rings[realm.issuer] ?? ring
    }

    private func make(_ algorithm: SigningAlgorithm) async throws -> SigningKey {
        try await .make(algorithm, pem: algorithm == .rs256 ? spare.popLast() : nil)
    }
}
