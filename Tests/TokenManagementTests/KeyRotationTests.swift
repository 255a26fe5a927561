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

/// How often an issuer's keys are fetched, for tokens of any sender.
@Suite(.onBothEngines)
struct KeyRotationTests {
    private static let path = "/op/keys"

    /// An issuer with published keys that sign nothing of what it sends.
    private func scene() throws -> OpenScene {
        let scene = try OpenScene()
        scene.issuer.publish(JSONValue.Object([("jwks_uri", .string(scene.issuer.baseURL + Self.path))]))
        scene.issuer.answer(.init(try Self.keys("old", P256.Signing.PrivateKey())), at: Self.path)
        return scene
    }

    private static func keys(_ id: String, _ key: P256.Signing.PrivateKey) throws -> String {
        let point = key.publicKey.rawRepresentation
        let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
        return #"{"keys":[{"kty":"EC","crv":"P-256","kid":"\#(id)","x":"\#(x)","y":"\#(y)"}]}"#
    }

    private func signed(_ scene: OpenScene, _ id: String, _ key: P256.Signing.PrivateKey) throws -> IDToken {
        let payload = scene.idToken(at: scene.clock.seconds).split(separator: ".")[1]
        let signed = Base64URL.encode(#"{"alg":"ES256","kid":"\#(id)"}"#.utf8) + "." + payload
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return try IDToken(decoding: Secret(signed + "." + Base64URL.encode(signature)))
    }

    private func documents(_ scene: OpenScene) throws -> IssuerDocuments {
        IssuerDocuments(of: try scene.authority, cachedIn: scene.store, transport: Scene.transport)
    }

    /// Fetches the keys of the issuer into the store.
    private func load(_ scene: OpenScene) async throws { _ = try await Issuer(documents(scene)) }

    /// The issuer answers the next refresh with this ID token, and an access token that has ended.
    private func answer(_ token: IDToken, _ scene: OpenScene, number: Int = 1) {
        scene.issuer.answer(
            .init(
                #"{"access_token":"at-\#(number)","expires_in":0,"refresh_token":"rt-\#(number)","#
                    + #""id_token":"\#(token.secret.reveal())"}"#
            )
        )
    }

    private func check(_ token: IDToken, _ scene: OpenScene) async throws {
        let documents = try documents(scene)
        let metadata = try await documents.metadata()
        let validator = IDTokenValidator(issuer: metadata.issuer, clientID: OpenScene.client)
        do {
            guard let keys = try await documents.keys(of: metadata) else { throw ExpectationFailure("keys") }
            try validator.checkSignature(of: token, keys: keys)
        } catch let flaw as IDTokenFlaw where flaw.mayBeOfOldKeys {
            guard let keys = try await documents.newKeys(of: metadata, for: token) else {
                throw ExpectationFailure("newer keys")
            }
            try validator.checkSignature(of: token, keys: keys.document)
        }
    }

    @Test func `tokens with unknown keys cause one fetch of the keys a minute`() async throws {
        let scene = try scene()
        for number in 1...20 {
            let token = try signed(scene, "made-up-\(number)", P256.Signing.PrivateKey())
            await #expect(throws: IDTokenFlaw.unknownKey) { try await check(token, scene) }
        }
        #expect(scene.issuer.forms(Self.path).count == 2)
        scene.clock.seconds += 60
        let token = try signed(scene, "made-up", P256.Signing.PrivateKey())
        await #expect(throws: IDTokenFlaw.unknownKey) { try await check(token, scene) }
        #expect(scene.issuer.forms(Self.path).count == 3)
    }

    @Test func `concurrent callers that meet a new key fetch it once`() async throws {
        let scene = try scene()
        let key = P256.Signing.PrivateKey()
        try await load(scene)
        scene.issuer.answer(.init(try Self.keys("new", key)), at: Self.path)
        let token = try signed(scene, "new", key)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...12 { group.addTask { try await check(token, scene) } }
            try await group.waitForAll()
        }
        #expect(scene.issuer.forms(Self.path).count == 2)
    }

    @Test func `keys replaced under the same id are fetched once more, and the refresh succeeds`() async throws {
        let scene = try scene()
        try await load(scene)
        let key = P256.Signing.PrivateKey()
        scene.issuer.answer(.init(try Self.keys("old", key)), at: Self.path)
        scene.expire()
        for number in 1...2 {
            answer(try signed(scene, "old", key), scene, number: number)
            #expect(try await scene.acquire().source == .refresh)
        }
        #expect(scene.issuer.forms(Self.path).count == 2)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-2")])
    }

    @Test func `a key that is published late delays a refresh, and is not held against the issuer`() async throws {
        let scene = try scene()
        try await load(scene)
        scene.expire()
        let key = P256.Signing.PrivateKey()
        answer(try signed(scene, "new", key), scene)
        #expect(try await scene.failure()?.idTokenFlaw == .unknownKey)
        scene.issuer.answer(.init(try Self.keys("new", key)), at: Self.path)
        scene.clock.seconds += 20
        answer(try signed(scene, "new", key), scene, number: 2)
        let delayed = try #require(try await scene.failure())
        #expect(delayed.code == .unavailable && !delayed.isThrottled)
        #expect(delayed.remedy?.delay == .seconds(40))
        for forced in [false, true] {
            let next = try await acquisitionError { try await scene.acquire { $0.forcesRefresh = forced } }
            #expect(next?.isThrottled == true)
        }
        scene.clock.seconds += 40
        answer(try signed(scene, "new", key), scene, number: 3)
        #expect(try await scene.acquire().source == .refresh)
        #expect(scene.issuer.forms().map { $0["refresh_token"] } == ["rt-0", "rt-1", "rt-2"])
        #expect(scene.issuer.forms(Self.path).count == 3)
    }

    @Test func `a forged signature under a known key is refused also where newer keys cannot be had`() async throws {
        let scene = try scene()
        try await load(scene)
        scene.issuer.answer(.init(status: 503), at: Self.path)
        scene.expire()
        answer(try signed(scene, "old", P256.Signing.PrivateKey()), scene)
        #expect(try await scene.failure()?.idTokenFlaw == .signature)
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
    }

    @Test(arguments: [("", "made-up"), ("#fetched-anew", "made-up"), ("#wait", "old")])
    func `an issuer that names the keys of another one as its own changes nothing there`(
        suffix: String,
        id: String
    ) async throws {
        let scene = try scene()
        let other = try OpenScene()
        other.issuer.publish(JSONValue.Object([("jwks_uri", .string(scene.issuer.baseURL + Self.path + suffix))]))
        let documents = IssuerDocuments(
            of: try other.authority,
            cachedIn: scene.store,
            transport: Scene.transport,
            now: { [clock = scene.clock] in clock.date }
        )
        #expect(try await documents.keys(of: documents.metadata()) != nil)
        scene.expire()
        answer(try signed(scene, id, P256.Signing.PrivateKey()), scene)
        #expect(try await scene.failure()?.idTokenFlaw != nil)
    }

    @Test func `a forged signature under a known key causes one fetch of the keys a minute`() async throws {
        let scene = try scene()
        let token = try signed(scene, "old", P256.Signing.PrivateKey())
        for _ in 1...3 {
            await #expect(throws: IDTokenFlaw.signature) { try await check(token, scene) }
        }
        #expect(scene.issuer.forms(Self.path).count == 2)
        scene.clock.seconds += 60
        await #expect(throws: IDTokenFlaw.signature) { try await check(token, scene) }
        #expect(scene.issuer.forms(Self.path).count == 3)
    }

    @Test func `an outage of the keys ends no session and causes no loop of requests`() async throws {
        let scene = try scene()
        let key = P256.Signing.PrivateKey()
        try await load(scene)
        scene.issuer.answer(.init(status: 503), at: Self.path)
        scene.expire()
        let token = try signed(scene, "new", key)
        for number in 1...3 {
            answer(token, scene, number: number)
            #expect(try await scene.acquire().source == .refresh)
            await #expect(throws: ExpectationFailure.self) { try await check(token, scene) }
        }
        #expect(scene.issuer.forms(Self.path).count == 2)
    }
}
