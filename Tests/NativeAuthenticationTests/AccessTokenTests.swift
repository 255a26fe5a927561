import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import OpenIDConnect
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct AccessTokenTests {
    @Test func `N36, S31, S32, S36, S40: one sign-in gives tokens for several APIs`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let first = try await account.accessToken(for: NativeScene.toDo).accessToken
            let second = try await account.accessToken(for: NativeScene.demo).accessToken
            #expect(first.scope.covers(NativeScene.toDo))
            #expect(second.scope.covers(NativeScene.demo))
            let audiences = try [first, second].map { try IDToken(decoding: $0.secret).claims.audiences }
            #expect(audiences[0] != audiences[1])
            #expect(scene.messages == 0)
            await #expect(try scene.store.status().accessTokens == 3)
        }
    }

    @Test func `N37, S38, S56: a stored token is returned without a request`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let usual = try await account.accessToken()
            let token = try await account.accessToken(for: NativeScene.toDo)
            _ = try await account.accessToken(for: NativeScene.demo)
            scene.provider.audit.reset()
            #expect(try await account.accessToken(for: NativeScene.toDo).accessToken == token.accessToken)
            #expect(try await account.accessToken().accessToken == usual.accessToken)
            #expect(usual.accessToken.scope.matchesNothing)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `N38, S47: a token near its end is renewed by one request, others stay`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let id = account.account.id
            let first = try await account.accessToken(for: NativeScene.toDo).accessToken
            let other = try await account.accessToken(for: NativeScene.demo).accessToken
            let refreshToken = try await scene.store.refreshTokens(of: id, client: "pwd-app")[0].secret
            scene.provider.clock.advance(by: 56 * 60)
            scene.provider.audit.reset()
            let renewed = try await account.accessToken(for: NativeScene.toDo)
            #expect(renewed.accessToken.secret != first.secret)
            #expect(scene.requests == ["token": 1])
            await #expect(try scene.store.refreshTokens(of: id, client: "pwd-app")[0].secret != refreshToken)
            var query = TokenQuery(account: id, clientID: "pwd-app", scope: NativeScene.demo)
            query.buffer = ExpiryBuffer(.zero)
            guard case .usable(let kept, _) = try await scene.store.cachedToken(for: query) else {
                Issue.record("the other token is gone")
                return
            }
            #expect(kept.secret == other.secret)
        }
    }

    @Test(arguments: [NativeScene.toDo, Scope([])])
    func `N39: a forced refresh renews the access token and the ID token`(scope: Scope) async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let (token, idToken) = (try await account.accessToken(for: scope), account.idToken)
            scene.provider.clock.advance(by: 2)
            scene.provider.audit.reset()
            let renewed = try await account.accessToken(for: scope, forcesRefresh: true)
            #expect(renewed.accessToken.secret != token.accessToken.secret)
            #expect(scene.requests == ["token": 1])
            #expect(account.idToken != idToken)
            await #expect(try scene.store.idTokens(of: account.account.id).map(\.idToken) == [account.idToken])
        }
    }

    @Test(arguments: ["openid", "api://todolist/ToDoList.Read profile", "offline_access"])
    func `N40: reserved scopes are refused before any request`(text: String) async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            scene.provider.audit.reset()
            #expect(try await accessTokenFailure(account, Scope(text)).isInvalidScope)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `N41: the issuer refuses scopes of two APIs at once`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let both = Scope(NativeScene.toDo.tokens + NativeScene.demo.tokens)
            #expect(try await accessTokenFailure(account, both).isInvalidScope)
            _ = try await account.accessToken(for: NativeScene.toDo)
        }
    }

    @Test func `N42, S42: a scope without consent needs the browser`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let scope: Scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.write"
            let error = try await accessTokenFailure(account, scope)
            #expect(error.isBrowserRequired)
            #expect(error.description.contains("Sign in interactively"))
            #expect(error.browserRequest?.scope == scope)
            #expect(error.browserRequest?.account?.id == account.account.id)
        }
    }

    @Test func `a browser is asked for the claims that the issuer wants, else for the caller's`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            let asked: JSONValue = ["access_token": ["nbf": nil]]
            let wanted = #"{"access_token":{"acrs":{"value":"c1"}}}"#
            for (claims, expected) in [(JSONValue.string(wanted), wanted), (.null, asked.serialized)] {
                let body: JSONValue = ["error": "interaction_required", "claims": claims]
                scene.provider.faults.add(.answer(status: 400, body: body.serialized, at: "token"))
                let error = try await failure { () throws(RetrieveAccessTokenError) in
                    try await account.accessToken(for: NativeScene.demo, forcesRefresh: true, claims: asked)
                }
                #expect(error.browserRequest?.claims?.serialized == expected)
            }
        }
    }

    @Test func `a sign-in says what the client can do`() async throws {
        try await NativeScene.open { scene in
            let recorder = RecordingTransport()
            let app = try scene.app("pwd-app", transport: recorder) {
                $0.tokenOptions.clientCapabilities = ["CP1"]
            }
            _ = try await scene.signInAna(in: app)
            #expect(recorder.forms.last?["claims"] == #"{"access_token":{"xms_cc":{"values":["CP1"]}}}"#)
        }
    }

    @Test func `where DPoP is required, no token that is not bound is handed out or signed in with`() async throws {
        try await NativeScene.open { scene in
            let strict = try scene.app("pwd-app") { $0.tokenOptions.dpop = .required }
            let parameters = SignInParameters(username: NativeScene.ana, password: NativeScene.anasPassword)
            let refused = try await failure(of: strict.signIn, parameters)
            #expect((refused.underlyingError as? DPoPError)?.code == .unsupported)
            #expect(try scene.isUntouched)
            // Nothing is spent for it.
            #expect(scene.provider.audit.counts.isEmpty)
            // One that signed in before that was required.
            _ = try await scene.signInAna().accessToken()
            scene.provider.audit.reset()
            let account = try await #require(try strict.currentAccount())
            let error = try await accessTokenFailure(account)
            #expect((error.underlyingError as? AcquisitionError)?.dpopError?.code == .noKey)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `N43: a refresh token that was used elsewhere ends the session`() async throws {
        try await NativeScene.open(grace: 0) { scene in
            let account = try await scene.signInAna()
            let id = account.account.id
            let stolen = try await scene.store.refreshTokens(of: id, client: "pwd-app")[0].secret
            let child = try await Self.refresh(stolen, scene)
            #expect(child.status == 200)
            let error = try await accessTokenFailure(account, NativeScene.toDo)
            #expect(error.isRefreshTokenExpired)
            #expect(error.suberror == "bad_token")
            await #expect(try scene.store.refreshTokens(of: id, client: "pwd-app").isEmpty)
            let token = try JSONValue(parsing: child.body.reveal()).object.map { TokenResponse($0) }?.refreshToken
            #expect(try await Self.refresh(#require(token), scene).status == 400)
        }
    }

    @Test func `N44: two programs that renew at once share one request`() async throws {
        try await NativeScene.open(grace: 0) { scene in
            let account = try await scene.signInAna()
            let other = try await #require(try scene.app("pwd-app", store: scene.reopened()).currentAccount())
            scene.provider.audit.reset()
            async let first = account.accessToken(for: NativeScene.toDo)
            async let second = other.accessToken(for: NativeScene.toDo)
            #expect(try await first.accessToken.secret == second.accessToken.secret)
            #expect(scene.requests == ["token": 1])
            _ = try await account.accessToken(for: NativeScene.demo)
        }
    }

    @Test func `D8: without a scope the sign-in's token is returned, later the newest`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna(NativeScene.toDo)
            scene.provider.clock.advance(by: 5)
            _ = try await account.accessToken(for: NativeScene.demo)
            #expect(try await account.accessToken().accessToken.scope == NativeScene.toDo)
            let other = try await #require(try scene.app("pwd-app", store: scene.reopened()).currentAccount())
            #expect(try await other.accessToken().accessToken.scope == NativeScene.demo)
            scene.provider.clock.advance(by: 3_601)
            #expect(try await other.accessToken().accessToken.scope == NativeScene.demo)
        }
    }

    @Test func `a token for no API in particular ends with its session`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("pwd-app") { $0.tokenOptions.maximumSessionAge = .seconds(1_800) }
            let account = try await scene.signInAna(in: app)
            #expect(try await account.accessToken().accessToken.expiresAt == NativeScene.start + 1_800)
            scene.provider.clock.advance(by: 1_800)
            scene.provider.audit.reset()
            #expect(try await accessTokenFailure(account).isRefreshTokenExpired)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    private static func refresh(_ token: Secret, _ scene: NativeScene) async throws -> HTTPResponse {
        var form = FormParameters()
        form.append("client_id", "pwd-app")
        form.append("grant_type", "refresh_token")
        form.append("refresh_token", token)
        let request = HTTPRequest(
            "POST",
            scene.provider.baseURL + "/fabrikvine.onmicrosoft.com/oauth2/v2.0/token",
            headers: ["content-type": "application/x-www-form-urlencoded"],
            body: form.encoded
        )
        return try await NativeScene.transport.send(request, limits: .webAPI)
    }
}
