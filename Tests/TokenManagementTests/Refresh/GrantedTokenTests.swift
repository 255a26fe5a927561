import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// A silent request and a token whose scopes or lifetime differ from what was asked.
@Suite(.onBothEngines)
struct GrantedTokenTests {
    @Test(.aboutFiles("a server's tokens are in memory only where others are heard of"))
    func `a token in memory is served while every reading thread is busy`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .cache)
            let occupation = try await OccupiedQueue(manager.store.connections.reading, threads: 8)
            #expect(try await manager.acquireTokenSilently(scene.request()).source == .cache)
            occupation.end()
        }
    }

    @Test func `a token that has to be read from the file is read on a thread for reading`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            let manager = try scene.manager()
            let occupation = try await OccupiedQueue(manager.store.connections.reading, threads: 8)
            let request = scene.request()
            let first = Task { try await manager.acquireTokenSilently(request) }
            #expect(await occupation.hasWaiting(1))
            occupation.end()
            #expect(try await first.value.source == .cache)
        }
    }

    @Test func `a token with fewer scopes is returned with the missing ones, or an error`()
        async throws
    {
        try await Scene.open { (scene: Scene) async throws in
            let both: Scope = "api://todolist/ToDoList.Read api://todolist/ToDoList.ReadWrite"
            let body = #"{"access_token":"new","expires_in":3600,"scope":"api://todolist/ToDoList.Read"}"#
            scene.answer(body, times: 2)
            let manager = try scene.manager()
            let result = try await manager.acquireTokenSilently(scene.request(both))
            #expect(result.declinedScope == "api://todolist/ToDoList.ReadWrite")
            let decider = TokenDecider(store: manager.store, clientID: manager.clientID, options: manager.options)
            let taken = try manager.store.consideredTokens(for: decider.query(scene.request(both))).first { $0.isTaken }
            let words = "fits best, without api://todolist/ToDoList.ReadWrite, which the issuer declined"
            #expect(taken?.reason == words)
            let error = try await acquisitionError {
                try await manager.acquireTokenSilently(scene.request(both) { $0.requiresAllScopes = true })
            }
            guard error?.code == .declinedScopes else { throw ExpectationFailure("declinedScopes") }
        }
    }

    @Test func `email is granted where the answer has Google's name of it`() async throws {
        let google = "https://www.googleapis.com/auth/userinfo.email"
        let granted = Scope("openid read \(google)")
        let scene = try OpenScene { $0.scope = granted }
        #expect(try await scene.acquire("email").source == .cache)
        scene.expire()
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600,"scope":"openid read \#(google)"}"#))
        let result = try await scene.acquire("email read")
        #expect(result.source == .refresh)
        #expect(result.declinedScope.tokens.isEmpty)
        #expect(result.accessToken.scope == granted)
        #expect(scene.issuer.forms().map { $0["scope"] } == [nil])
    }

    @Test func `what was declined at the sign-in is not asked for in a refresh`() async throws {
        let scene = try OpenScene { $0.scope = "openid read" }
        // Some issuers refuse a request with it (RFC 6749 §6).
        for number in 1...3 {
            let tokens = #""access_token":"at-\#(number)","refresh_token":"rt-\#(number)""#
            scene.issuer.answer(.init("{\(tokens),\"expires_in\":3600}"))
            scene.expire()
            for source in [TokenResult.Source.refresh, .cache] {
                let result = try await scene.acquire(number < 3 ? "read write" : "write")
                #expect(result.source == source)
                #expect(result.declinedScope == "write")
            }
        }
        #expect(scene.issuer.forms().map { $0["scope"] } == [nil, nil, nil])
        scene.issuer.answer(.init(#"{"access_token":"at-4","expires_in":3600}"#))
        _ = try await scene.acquire("write more")
        #expect(scene.issuer.forms().last?["scope"] == "openid read more")
    }

    @Test(arguments: ["rt-9", nil])
    func `what a new sign-in is given is asked for as any other scope`(refreshToken: String?) async throws {
        let scene = try OpenScene { $0.scope = "openid read" }
        func declined() throws -> [Scope] {
            let query = TokenQuery(account: scene.account, clientID: OpenScene.client, scope: "write")
            let candidates = try scene.store.silentState(for: query) { _ in try scene.authority }?.candidates ?? []
            return candidates.map(\.token.declinedScope)
        }
        #expect(try declined() == ["write"])
        try scene.signIn(refreshToken: refreshToken)
        #expect(try declined() == [Scope([])])
        scene.expire()
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        _ = try await scene.acquire("write")
        #expect(scene.issuer.forms().last?["scope"] == (refreshToken == nil ? "openid read write" : nil))
        await #expect(try scene.store.check() == [])
    }

    @Test func `a refresh names the resource that the sign-in was for`() async throws {
        let scene = try OpenScene()
        for resource in ["https://api.example.com/", nil] as [String?] {
            try scene.signIn(refreshToken: "rt-9", resource: resource)
            // The refresh token of an answer is for the same one.
            for number in 1...2 {
                let tokens = #""access_token":"at-\#(number)","refresh_token":"rt-\#(number)""#
                scene.issuer.answer(.init("{\(tokens),\"expires_in\":3600}"))
                scene.expire()
                #expect(try await scene.acquire().source == .refresh)
                let form = scene.issuer.forms().last
                #expect(form?["refresh_token"] == (number == 1 ? "rt-9" : "rt-1"))
                #expect(form?["resource"] == resource)
                #expect(try scene.refreshTokens.first?.resource == resource)
            }
        }
        await #expect(try scene.store.check() == [])
    }

    @Test(arguments: ["other", "openid", ""])
    func `a request that was answered with another scope is sent once`(granted: String) async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.answer(#"{"access_token":"new","expires_in":3600,"scope":"\#(granted)"}"#, times: 2)
            let manager = try scene.manager()
            let wanted: Scope = "api://todolist/a api://todolist/b"
            #expect(try await manager.acquireTokenSilently(scene.request(wanted)).source == .refresh)
            // So would another process.
            for again in ["api://todolist/B openid api://todolist/a", wanted] {
                let result = try await scene.manager().acquireTokenSilently(scene.request(again))
                #expect(result.source == .cache)
                #expect(result.accessToken.secret == Secret("new"))
                #expect(result.declinedScope.covers(wanted))
            }
            #expect(scene.tokenRequestCount == 1)
            #expect(try await manager.acquireTokenSilently(scene.request("api://todolist/a")).source == .refresh)
        }
    }

    @Test func `a token that is good for too short a time is refreshed`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.clock.advance(by: 1_800)
            let manager = try scene.manager()
            #expect(
                try await manager.acquireTokenSilently(scene.request { $0.minimumLifetime = .seconds(1_700) }).source
                    == .cache
            )
            #expect(
                try await manager.acquireTokenSilently(scene.request { $0.minimumLifetime = .seconds(1_900) }).source
                    == .refresh
            )
        }
    }

    @Test func `an answer with 20,000 scopes is stored and found in one pass`() async throws {
        let scene = try OpenScene()
        scene.expire()
        let many = (0..<20_000).map { "api://resource/Permission.\($0)" }.joined(separator: " ")
        scene.issuer.answer(.init(#"{"access_token":"new","expires_in":3600,"scope":"\#(many)"}"#))
        let result = try await scene.acquire(Scope(many))
        #expect(result.accessToken.scope.tokens.count == 20_000)
        #expect(result.declinedScope.tokens.isEmpty)
        #expect(try await scene.acquire("api://resource/permission.19999").source == .cache)
    }

    /// An issuer may add a scope to one access token and leave the session with what the person signed in for.
    @Test func `a scope beyond the sign-in's is asked for each time`() async throws {
        let scene = try OpenScene()
        let wide = "openid read write admin"
        for number in 1...3 {
            let tokens = #""access_token":"wide-\#(number)","refresh_token":"rt-\#(number)","expires_in":3600"#
            scene.issuer.answer(.init(#"{\#(tokens),"scope":"\#(wide)"}"#))
            let result = try await scene.acquire("admin") { $0.forcesRefresh = number > 1 }
            #expect(result.accessToken.secret == Secret("wide-\(number)"))
            let asked = Scope(scene.issuer.forms().last?["scope"] ?? "")
            #expect(asked.covers("read write admin"), "\(asked)")
        }
        let signedInFor: Scope? = try scene.store.sessionScope(of: scene.account, client: OpenScene.client)
        #expect(signedInFor == "openid read write")
        // What was signed in for is asked for by asking for nothing, as before.
        scene.expire()
        scene.issuer.answer(.init(#"{"access_token":"plain","expires_in":3600,"scope":"openid read write"}"#))
        #expect(try await scene.acquire("read").accessToken.secret == Secret("plain"))
        #expect(scene.issuer.forms().last?["scope"] == nil)
    }

    @Test func `a request for OpenID scopes alone prefers the token for no API`() async throws {
        let scene = try OpenScene()
        #expect(try await scene.acquire("openid").accessToken.secret == Secret("at-0"))
        scene.issuer.answer(.init(#"{"access_token":"plain","expires_in":3600,"scope":"profile"}"#))
        #expect(try await scene.acquire("profile").accessToken.secret == Secret("plain"))
        #expect(try await scene.acquire("profile").source == .cache)
        #expect(try await scene.acquire("read").accessToken.secret == Secret("at-0"))
    }

    @Test func `in an outage a token for an API does not serve OpenID scopes that it lacks`() async throws {
        let scene = try OpenScene { $0.extendedExpiresIn = .seconds(7_200) }
        scene.expire()
        scene.issuer.answer(.init(status: 503))
        let manager = scene.manager { $0.allowsExtendedLifetime = true }
        func acquire(_ scope: Scope) async throws -> TokenResult {
            var request = SilentRequest(account: scene.account, scope: scope)
            request.timeout = .seconds(300)
            return try await manager.acquireTokenSilently(request)
        }
        let error = try await acquisitionError { try await acquire("profile") }
        #expect(error?.code == .unavailable)
        #expect(try await acquire("openid").freshness == .extended)
    }

    @Test(arguments: [Int64(6), 1_799])
    func `a new token that is too short is an error that carries the token`(lifetime: Int64) async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.answer(#"{"access_token":"short","expires_in":\#(lifetime)}"#)
            let manager = try scene.manager { $0.allowsExtendedLifetime = true }
            scene.expire()
            let error = try await acquisitionError {
                try await manager.acquireTokenSilently(scene.request { $0.minimumLifetime = .seconds(1_800) })
            }
            #expect(error?.code == .tooShort)
            #expect(error?.lifetime == .seconds(lifetime))
            #expect(error?.result?.accessToken.secret == Secret("short"))
            scene.answer(#"{"access_token":"long","expires_in":1800}"#)
            let longer = try await manager.acquireTokenSilently(scene.request { $0.minimumLifetime = .seconds(1_800) })
            #expect(longer.accessToken.secret == Secret("long"))
        }
    }

    @Test(arguments: ["pop", "ssh-cert", "MAC"])
    func `a token of another type than was asked for is an error that carries the token`(type: String) async throws {
        let scene = try OpenScene()
        func answer(_ number: Int) -> HandmadeIssuer.Answer {
            let (access, refresh) = (#""access_token":"at-\#(number)""#, #""refresh_token":"rt-\#(number)""#)
            return .init(#"{\#(access),\#(refresh),"expires_in":3600,"token_type":"bearer"}"#)
        }
        scene.issuer.answer(answer(1), answer(2))
        let error = try await acquisitionError { try await scene.acquire { $0.tokenType = type } }
        #expect(error?.code == .otherTokenType)
        #expect(error?.result?.accessToken.secret == Secret("at-1"))
        #expect(try scene.refreshTokens.map(\.secret) == [Secret("rt-1")])
        let unbound = try await acquisitionError { try await scene.acquire { $0.keyID = "k" } }
        #expect(unbound?.code == .otherTokenType)
        #expect(try await scene.acquire { _ in }.accessToken.secret == Secret("at-2"))
        #expect(scene.tokenRequestCount == 2)
    }

    @Test func `a DPoP token of a session without a key is refused before anything is sent`() async throws {
        let scene = try OpenScene()
        let error = try await acquisitionError { try await scene.acquire { $0.tokenType = "dpop" } }
        #expect(error?.dpopError?.code == .noKey)
        #expect(scene.tokenRequestCount == 0)
    }

    @Test func `a token that comes while the clock is set back is long enough`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(#"{"access_token":"new","refresh_token":"rt-1","expires_in":3600}"#))
        let transport = InterceptingTransport(Scene.transport) { request in
            if request.url.hasSuffix("/token") { scene.clock.seconds -= 86_400 }
        }
        var request = SilentRequest(account: scene.account, scope: "read")
        request.timeout = .seconds(300)
        request.forcesRefresh = true
        request.minimumLifetime = .seconds(600)
        let result = try await scene.manager(transport: transport).acquireTokenSilently(request)
        #expect(result.accessToken.secret == Secret("new"))
    }

    @Test func `a token that ends soon is not a fallback for a longer minimum lifetime`() async throws {
        try await Scene.open(answering: .init(extendedExpiresIn: .seconds(7_200))) { (scene: Scene) async throws in
            scene.expire()
            scene.provider.faults.add(.status(503, at: "token", times: 2))
            let manager = try scene.manager { $0.allowsExtendedLifetime = true }
            let error = try await acquisitionError {
                try await manager.acquireTokenSilently(scene.request { $0.minimumLifetime = .seconds(60) })
            }
            guard error?.code == .unavailable else { throw ExpectationFailure("unavailable") }
        }
    }
}
