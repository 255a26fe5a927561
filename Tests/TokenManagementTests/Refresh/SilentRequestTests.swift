import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// What a silent request sends and returns.
@Suite(.onBothEngines)
struct SilentRequestTests {
    @Test func `a caller without time times out, and was not cancelled`() async throws {
        let scene = try OpenScene()
        scene.expire()
        for _ in 1...50 {
            let error = try await acquisitionError { try await scene.acquire { $0.timeout = .zero } }
            #expect(error?.code == .timedOut)
        }
    }

    @Test func `a request that no store takes is refused before the refresh token is spent`() async throws {
        let scene = try OpenScene()
        func request(_ scope: Scope, _ change: (inout SilentRequest) -> Void = { _ in }) -> SilentRequest {
            var request = SilentRequest(account: scene.account, scope: scope)
            request.forcesRefresh = true
            change(&request)
            return request
        }
        let requests = [
            request("re\u{0}ad"), request("read \u{1B}[0m"), request("re\u{7F}ad"),
            request("read") { $0.tokenType = "po\u{0}p" }, request("read") { $0.keyID = "k\u{0}" },
        ]
        for request in requests {
            let error = await #expect(throws: TokenStoreError.self) {
                try await scene.manager().acquireTokenSilently(request)
            }
            #expect(error?.code == .invalidArgument)
        }
        #expect(scene.tokenRequestCount == 0)
    }

    @Test func `a transport's own error is one of the network, and a good token serves`() async throws {
        struct OwnError: Error {}
        let errors: [(any Error, at: String)] = [
            (OwnError(), "/token"), (OwnError(), "/openid-configuration"), (CancellationError(), "/token"),
        ]
        for (own, place) in errors {
            try await Scene.open(answering: .init(refreshIn: .seconds(1_800))) { scene in
                let transport = InterceptingTransport(Scene.transport) { request in
                    if request.url.hasSuffix(place) { throw own }
                }
                let manager = try scene.manager(transport: transport)
                scene.clock.advance(by: 1_801)
                let result = try await manager.acquireTokenSilently(scene.request())
                #expect(result.freshness == .aging && result.refreshFailed)
                scene.expire()
                let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
                #expect(error?.networkError?.code == .interrupted)
                #expect(error?.problem.contains("\(own)") == true)
            }
        }
    }

    @Test func `a token that ended while a refresh was waited for does not stand in for it`() async throws {
        try await Scene.open(answering: .init(refreshIn: .seconds(1_800))) { scene in
            let sleeping = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                scene.clock.advance(by: 1_800)
                throw HTTPTransportError.timedOut(host: "x")
            }
            let manager = try scene.manager(transport: sleeping)
            scene.clock.advance(by: 1_801)
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            #expect(error?.code == .network)
        }
    }

    @Test func `C43: a claims challenge skips the stored token and sends the capabilities`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let sent = SentForms()
            let transport = InterceptingTransport(Scene.transport) { sent.keep($0) }
            let manager = try scene.manager({ $0.clientCapabilities = ["CP1"] }, transport: transport)
            let claims = try JSONValue(parsing: #"{"access_token":{"nbf":null}}"#)
            let result = try await manager.acquireTokenSilently(scene.request { $0.claims = claims })
            #expect(result.source == .refresh)
            #expect(scene.tokenRequestCount == 1)
            let wanted = try JSONValue(parsing: #"{"access_token":{"nbf":null,"xms_cc":{"values":["CP1"]}}}"#)
            #expect(try JSONValue(parsing: sent.last("claims")) == wanted)
            #expect(
                try await manager.acquireTokenSilently(scene.request()).accessToken.secret == result.accessToken.secret
            )
        }
    }

    @Test func `C52: an unknown client of the family is tried with the family's token`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.addFamilyToken("family-token")
            scene.answer(#"{"access_token":"new","expires_in":3600,"foci":"1"}"#)
            let manager = try scene.manager(client: "second-app") { $0.usesFamilyTokens = true }
            #expect(try await manager.acquireTokenSilently(scene.request()).accessToken.secret == Secret("new"))
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `C53: a client outside the family asks once`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.addFamilyToken("family-token")
            scene.refuse("invalid_grant", suberror: "client_mismatch")
            let manager = try scene.manager(client: "second-app") { $0.usesFamilyTokens = true }
            for _ in 1...2 {
                let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
                #expect(error?.needsInteraction == true)
                #expect(scene.tokenRequestCount == 1)
            }
            await #expect(try scene.store.refreshTokens(of: scene.account, client: "sibling-app").count == 1)
        }
    }

    @Test func `the family's token is not used when the option is off`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.addFamilyToken("family-token")
            let manager = try scene.manager(client: "second-app")
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            guard error?.interaction == .noRefreshToken else { throw ExpectationFailure("noRefreshToken") }
            #expect(error?.remedy?.code == .useFamilyTokens)
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `N36 and N37: each API has its own token, and both stay`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            let first = try await manager.acquireTokenSilently(scene.request(Scene.toDo))
            let second = try await manager.acquireTokenSilently(scene.request(Scene.demo))
            #expect(first.source == .cache)
            #expect(second.source == .refresh)
            #expect(scene.tokenRequestCount == 1)
            #expect(second.accessToken.scope.covers(Scene.demo))
            #expect(second.declinedScope.isEmpty)
            #expect(
                try await manager.acquireTokenSilently(scene.request(Scene.toDo)).accessToken.secret
                    == first.accessToken.secret
            )
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `N38: close to its end a token is refreshed and the other API's stays`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            scene.clock.advance(by: 600)
            let other = try await manager.acquireTokenSilently(scene.request(Scene.demo))
            let before = try scene.refreshTokens[0].secret
            scene.clock.advance(by: 46 * 60)
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .refresh)
            #expect(scene.tokenRequestCount == 2)
            #expect(try scene.refreshTokens[0].secret != before)
            #expect(
                try await manager.acquireTokenSilently(scene.request(Scene.demo)).accessToken.secret
                    == other.accessToken.secret
            )
        }
    }

    @Test func `C41 and N39: a forced refresh replaces a valid token and the ID token`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.clock.advance(by: 60)
            let result = try await scene.manager().acquireTokenSilently(scene.request { $0.forcesRefresh = true })
            #expect(result.source == .refresh)
            #expect(scene.tokenRequestCount == 1)
            #expect(result.idToken?.claims.issuedAt == Scene.start.addingTimeInterval(60))
            await #expect(try scene.store.status().accessTokens == 1)
            await #expect(
                try scene.store.idTokens(of: scene.account).first?.idToken.claims.issuedAt
                    == Scene.start.addingTimeInterval(60)
            )
        }
    }

    @Test func `C42: without a refresh token nothing can be forced, and the good token stays`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            for token in try scene.refreshTokens { try await scene.store.removeRefreshToken(token) }
            let manager = try scene.manager()
            let error = try await acquisitionError {
                try await manager.acquireTokenSilently(scene.request { $0.forcesRefresh = true })
            }
            guard error?.interaction == .noRefreshToken else { throw ExpectationFailure("noRefreshToken") }
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .cache)
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `N40: scopes of OpenID Connect alone are refused without a request`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            await #expect(throws: TokenStoreError.self) {
                try await scene.manager().acquireTokenSilently(scene.request("openid profile"))
            }
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test func `N41: scopes of two APIs at once are the issuer's to refuse`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let both = Scope(Scene.toDo.tokens + Scene.demo.tokens)
            let error = try await acquisitionError {
                try await scene.manager().acquireTokenSilently(scene.request(both))
            }
            guard error?.code == .invalidScope else { throw ExpectationFailure("invalidScope") }
            #expect(try scene.refreshTokens.count == 1)
        }
    }

    @Test func `N42: a scope without consent needs interaction`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let scope: Scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.write"
            let error = try await acquisitionError {
                try await scene.manager().acquireTokenSilently(scene.request(scope))
            }
            #expect(error?.needsInteraction == true)
            #expect("\(error ?? .timedOut)".contains("interactively"))
        }
    }

    @Test func `a client in other letters refreshes by the name that its token was issued to`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let manager = try scene.manager(client: Scene.client.uppercased())
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .refresh)
            #expect(try scene.refreshTokens.map(\.clientID) == [Scene.client])
        }
    }

    @Test func `N43: a token used twice is removed, and its child is dead too`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let old = try scene.refreshTokens[0]
            let manager = try scene.manager()
            scene.expire()
            _ = try await manager.acquireTokenSilently(scene.request())
            // A copy of the old token, as a backup restores it.
            let endpoint = TokenEndpoint(
                scene.provider.baseURL + "/fabrikvine.onmicrosoft.com/oauth2/v2.0/token",
                transport: Scene.transport
            )
            var form = FormParameters()
            form.append("client_id", Scene.client)
            form.append("refresh_token", old.secret)
            await #expect(throws: OAuthError.self) { try await endpoint.send(.refreshToken, form, now: 0) }
            scene.expire()
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            #expect(error?.needsInteraction == true)
            #expect(try scene.refreshTokens.isEmpty)
        }
    }

    @Test func `N45: the account and its claims are there without the network`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let store = try scene.openAgain()
            #expect(try await store.account(username: Login.ana)?.id == scene.account)
            await #expect(try store.idTokens(of: scene.account).first?.idToken.claims.name == "Ana Rojas")
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test(arguments: [Fault.IDTokenFlaw.signature, .issuer, .audience])
    func `the tokens beside a wrong ID token are refused, and the session continues`(flaw: Fault.IDTokenFlaw)
        async throws
    {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.provider.faults.add(.wrongIDToken(flaw))
            let manager = try scene.manager()
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            guard error?.code == .invalidIDToken else {
                throw ExpectationFailure("invalidIDToken, not \(String(describing: error))")
            }
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .refresh)
        }
    }

    @Test func `N70: keys that were rotated are fetched once more`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            _ = try await manager.acquireTokenSilently(scene.request { $0.forcesRefresh = true })
            // The next key is published before it signs, so only the one after it is unknown.
            for _ in 1...2 { try await scene.provider.rotateKeys(tenant: "fabrikvine.onmicrosoft.com") }
            _ = try await manager.acquireTokenSilently(scene.request { $0.forcesRefresh = true })
            #expect(scene.provider.audit.counts == ["metadata": 1, "keys": 2, "token": 2])
        }
    }
}
