import Foundation
import JWTKit
import OAuth
import OpenIDConnect
import Testing

/// Ours against jwt-kit, which nothing of ours is made of.
struct JWTKitTests {
    private static let algorithms = ["RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"]

    /// Every attack on every algorithm; of 96 and 132 bytes, base64 has neither padding nor bits left over.
    private static let attacks = algorithms.flatMap { algorithm in
        let isWhole = ["ES384", "ES512"].contains(algorithm)
        return Attack.all.filter { !isWhole || !["padding", "left-over bits"].contains($0.name) }
            .map { (algorithm, $0) }
    }

    private static func draft(_ algorithm: String) throws -> Draft { Draft(try KeyPair.of(algorithm)) }

    private func ours(_ token: String, _ draft: Draft) throws {
        var validator = IDTokenValidator(issuer: Draft.issuer, clientID: "app")
        validator.nonce = "n"
        validator.leeway = 0
        validator.accessToken = Secret("an access token")
        guard let token = try? IDToken(decoding: Secret(token)) else { throw IDTokenFlaw.unreadable }
        try validator.checkClaims(of: token, clocks: [Draft.now])
        try validator.checkSignature(of: token, keys: JSONWebKeySet(draft.pair.set()))
    }

    private func isAcceptedByPeer(_ token: String, _ draft: Draft) async throws -> Bool {
        let keys = JWTKeyCollection()
        try await keys.add(jwksJSON: JSONValue.object(draft.pair.set()).serialized)
        do {
            _ = try await keys.verify(token, as: PeerClaims.self)
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: algorithms) func `what jwt-kit signs is accepted`(algorithm: String) async throws {
        let draft = try Self.draft(algorithm)
        let keys = JWTKeyCollection()
        try await draft.pair.lend(keys)
        let claims = PeerClaims(
            iss: .init(value: Draft.issuer),
            sub: "s",
            aud: "app",
            exp: .init(value: Date(timeIntervalSince1970: 2_000)),
            iat: .init(value: Date(timeIntervalSince1970: 1_000)),
            nonce: "n"
        )
        let token = try await keys.sign(claims, kid: "k")
        #expect(throws: Never.self) { try ours(token, draft) }
    }

    @Test(
        arguments: algorithms,
        ["", #"{"aud":["app"]}"#, #"{"azp":"app"}"#, #"{"nbf":1499}"#, #"{"aud":["other","app"],"azp":"app"}"#]
    )
    func `both accept a token that is in order`(algorithm: String, change: String) async throws {
        var draft = try Self.draft(algorithm)
        let members = change.isEmpty ? [] : try JSONValue(parsing: change).object?.members ?? []
        for (name, value) in members { draft.set(name, value.serialized) }
        let token = try draft.token
        #expect(throws: Never.self) { try ours(token, draft) }
        #expect(try await isAcceptedByPeer(token, draft))
    }

    @Test(arguments: attacks)
    func `every forged token is refused, as it is by jwt-kit`(
        algorithm: String,
        attack: Attack
    ) async throws {
        var draft = try Self.draft(algorithm)
        attack.change(&draft)
        let token = try draft.token
        let flaw = #expect(throws: IDTokenFlaw.self) { try ours(token, draft) }
        #expect(flaw == attack.flaw)
        let shown = "\(flaw as (any Error)?)"
        #expect(!token.split(separator: ".").contains { $0.count > 8 && shown.contains($0) })
        #expect(try await isAcceptedByPeer(token, draft) == !attack.isRefusedByPeer)
    }
}
