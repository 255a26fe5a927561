import Crypto
import Foundation
import IssuerSupport
import OAuth
import OpenIDConnect
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// Apps at Microsoft's issuers whose ID tokens are signed with keys of their own.
@Suite(.onBothEngines)
struct AppKeyTests {
    private static let tenant = "5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"
    private static let client = "0a1b2c3d-0000-4000-8000-000000000001"
    private static let metadata = "/\(tenant)/v2.0/.well-known/openid-configuration"

    private let scene: OpenScene
    private let key = P256.Signing.PrivateKey()

    init() throws {
        scene = try OpenScene()
        publish("/keys", at: Self.metadata)
        publish("/keys?appid=\(Self.client)", at: "\(Self.metadata)?appid=\(Self.client)")
        scene.issuer.answer(.init(try Self.keys("tenant", P256.Signing.PrivateKey())), at: "/keys")
        scene.issuer.answer(.init(try Self.keys("app", key)), at: "/keys?appid=\(Self.client)")
    }

    private var base: String { "\(scene.issuer.baseURL)/\(Self.tenant)" }

    private func publish(_ keys: String, at path: String) {
        let members = [
            ("issuer", base + "/v2.0"), ("token_endpoint", base + "/oauth2/v2.0/token"),
            ("jwks_uri", scene.issuer.baseURL + keys),
        ]
        scene.issuer.publishAlso(JSONValue.Object(members.map { ($0.0, .string($0.1)) }), headers: [], at: path)
    }

    private static func keys(_ id: String, _ key: P256.Signing.PrivateKey) throws -> String {
        let point = key.publicKey.rawRepresentation
        let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
        return #"{"keys":[{"kty":"EC","crv":"P-256","kid":"\#(id)","x":"\#(x)","y":"\#(y)"}]}"#
    }

    private func token(_ id: String, _ key: P256.Signing.PrivateKey, of client: String = client) throws -> Secret {
        let now = scene.clock.seconds
        let claims = JSONValue.object(
            JSONValue.Object([
                ("iss", .string(base + "/v2.0")), ("sub", "subject"), ("aud", .string(client)),
                ("iat", .number("\(now)")), ("exp", .number("\(now + 600)")),
            ])
        )
        let parts = [#"{"alg":"ES256","kid":"\#(id)"}"#, claims.serialized]
        let signed = parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return Secret(signed + "." + Base64URL.encode(signature))
    }

    private func check(_ token: Secret, of client: String = client, isKept: Bool = true) async throws {
        let documents = IssuerDocuments(
            of: try Authority(parsing: base),
            cachedIn: isKept ? scene.store : nil,
            transport: Scene.transport
        )
        let issuer = try await Issuer(documents)
        let validator = IDTokenValidator(issuer: issuer.metadata.issuer, clientID: client)
        _ = try await issuer.checked(token, by: validator, clocks: [scene.clock.seconds])
    }

    private func requests(_ path: String) -> Int { scene.issuer.forms(path).count }

    @Test(arguments: [true, false])
    func `a token that the app's own key signed is good`(isKept: Bool) async throws {
        try await check(token("app", key), isKept: isKept)
        #expect(requests("/keys?appid=\(Self.client)") == 1)
    }

    @Test func `the app's keys are kept, and asked for before others`() async throws {
        try await check(token("app", key))
        let before = requests("/keys")
        scene.clock.seconds += 120
        try await check(token("app", key))
        #expect(requests("/keys?appid=\(Self.client)") == 1)
        #expect(requests("/keys") == before)
    }

    @Test func `a new key of the app is fetched, and a made-up one is refused`() async throws {
        try await check(token("app", key))
        scene.clock.seconds += 120
        let new = P256.Signing.PrivateKey()
        scene.issuer.answer(.init(try Self.keys("new", new)), at: "/keys?appid=\(Self.client)")
        try await check(token("new", new))
        for isKept in [true, false] {
            await #expect(throws: IDTokenFlaw.unknownKey) {
                try await check(token("made-up", P256.Signing.PrivateKey()), isKept: isKept)
            }
            await #expect(throws: IDTokenFlaw.signature) {
                try await check(token("new", P256.Signing.PrivateKey()), isKept: isKept)
            }
        }
    }

    @Test func `another app's keys are not this one's`() async throws {
        let other = "0a1b2c3d-0000-4000-8000-000000000002"
        publish("/keys", at: "\(Self.metadata)?appid=\(other)")
        await #expect(throws: IDTokenFlaw.unknownKey) { try await check(token("app", key, of: other), of: other) }
        await #expect(throws: IDTokenFlaw.unknownKey) { try await check(token("app", key, of: "odd?x"), of: "odd?x") }
        #expect(requests("/keys?appid=\(Self.client)") == 0)
        // That it has none is known for a minute.
        await #expect(throws: IDTokenFlaw.unknownKey) { try await check(token("app", key, of: other), of: other) }
        #expect(requests("\(Self.metadata)?appid=\(other)") == 1)
        // A key that is known speaks for itself.
        await #expect(throws: IDTokenFlaw.signature) { try await check(token("tenant", key, of: other), of: other) }
    }

    @Test(arguments: [400, 404])
    func `an issuer that knows no metadata of an app has no keys of it`(status: Int) async throws {
        scene.issuer.answer(.init(status: status, "{}"), at: "\(Self.metadata)?appid=\(Self.client)")
        for isKept in [true, false] {
            await #expect(throws: IDTokenFlaw.unknownKey) { try await check(token("app", key), isKept: isKept) }
        }
    }

    @Test func `an outage of the app's keys does not end a session, and no sign-in is good without them`() async throws
    {
        scene.issuer.answer(.init(status: 503), at: "\(Self.metadata)?appid=\(Self.client)")
        try await check(token("app", key))
        await #expect(throws: IDTokenFlaw.unknownKey) { try await check(token("app", key), isKept: false) }
        // Known by the first one, so that another signed it.
        await #expect(throws: IDTokenFlaw.signature) { try await check(token("tenant", key)) }
    }
}
