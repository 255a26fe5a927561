import IssuerSupport
import OAuth
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// What an issuer other than Microsoft's is asked for beyond the scope of the sign-in, and the tokens that come of it.
@Suite(.onBothEngines)
struct FurtherScopeTests {
    @Test func `a refresh asks for all scopes that earlier answers granted`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(
            .init(#"{"access_token":"at-1","expires_in":3600,"refresh_token":"rt-1","scope":"read"}"#)
        )
        #expect(try await scene.acquire("read").source == .refresh)
        // Nothing was asked for, which asks for all of it.
        #expect(scene.issuer.forms().map { $0["scope"] } == [nil])
        #expect(try scene.refreshTokens.map(\.scope) == ["openid read"])
        let result = try await scene.acquire("write")
        #expect(scene.issuer.forms().last?["scope"] == "openid read write")
        #expect(result.declinedScope == "write")
    }

    @Test func `a wider granted scope is the token's, and the session keeps that of the sign-in`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(
            .init(#"{"access_token":"at-1","expires_in":0,"refresh_token":"rt-1","scope":"openid read write more"}"#),
            .init(#"{"access_token":"at-2","expires_in":3600,"refresh_token":"rt-2"}"#)
        )
        _ = try await scene.acquire("more")
        #expect(scene.issuer.forms().last?["scope"] == "openid read write more")
        #expect(try await scene.acquire("more").declinedScope.isEmpty)
        #expect(scene.tokenRequestCount == 2)
        // Without a scope it would be asked for what was signed in for (RFC 6749 §6).
        #expect(scene.issuer.forms().last?["scope"] == "openid read write more")
        #expect(try scene.refreshTokens.map(\.scope) == ["openid read write"])
    }

    @Test func `tokens for further scopes stay beside each other, and a newer one replaces its own`() async throws {
        let scene = try OpenScene()
        for scope in ["more", "other", "email"] as [Scope] {
            scene.issuer.answer(.init(#"{"access_token":"at-\#(scope.text)","expires_in":3600}"#))
            #expect(try await scene.acquire(scope).source == .refresh)
        }
        for scope in ["more", "other", "email", "write"] as [Scope] {
            #expect(try await scene.acquire(scope).source == .cache)
        }
        scene.issuer.answer(.init(#"{"access_token":"at-new","expires_in":3600}"#))
        #expect(try await scene.acquire("more") { $0.forcesRefresh = true }.accessToken.secret == Secret("at-new"))
        #expect(try await scene.acquire("more").accessToken.secret == Secret("at-new"))
        #expect(try await scene.acquire("other").accessToken.secret == Secret("at-other"))
        #expect(scene.tokenRequestCount == 4)
        // The sign-in's own went, as the first of these is good for all that it was for.
        #expect(try await scene.store.summary(of: scene.account)?.accessTokenCount == 3)
    }

    @Test func `a further scope that is not granted any more takes the older token along`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(#"{"access_token":"at-more","expires_in":3600}"#))
        _ = try await scene.acquire("more")
        scene.issuer.answer(.init(#"{"access_token":"at-less","expires_in":3600,"scope":"openid read write"}"#))
        _ = try await scene.acquire("more") { $0.forcesRefresh = true }
        #expect(try await scene.acquire("more").accessToken.secret == Secret("at-less"))
        #expect(try await scene.store.summary(of: scene.account)?.accessTokenCount == 1)
    }

    @Test func `ended tokens for further scopes go with the next one`() async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        for scope in ["payment:1", "payment:2", "payment:3"] as [Scope] {
            _ = try await scene.acquire(scope)
            scene.expire()
        }
        #expect(try await scene.store.summary(of: scene.account)?.accessTokenCount == 1)
    }

    @Test func `callers for several further scopes have one request each`() async throws {
        let scene = try OpenScene()
        scene.expire()
        scene.issuer.answer(.init(#"{"access_token":"at-1","expires_in":3600}"#))
        let scopes: [Scope] = ["more", "other", "third"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 { group.addTask { _ = try await scene.acquire(scopes[number % scopes.count]) } }
            try await group.waitForAll()
        }
        #expect(scene.tokenRequestCount == scopes.count)
    }

    @Test(arguments: ["read write", "openid email", "https://www.googleapis.com/auth/userinfo.profile openid"])
    func `a token for OpenID scopes alone is fetched once, whatever its scope is called`(granted: String) async throws {
        let scene = try OpenScene()
        scene.issuer.answer(.init(#"{"access_token":"plain","expires_in":3600,"scope":"\#(granted)"}"#))
        #expect(try await scene.acquire("profile").source == .refresh)
        for _ in 0..<2 {
            let result = try await scene.acquire("profile")
            #expect(result.source == .cache)
            #expect(result.accessToken.secret == Secret("plain"))
        }
        #expect(scene.tokenRequestCount == 1)
    }
}
