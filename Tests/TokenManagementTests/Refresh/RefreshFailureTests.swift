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

/// What a refresh that fails means, with and without a token to fall back on.
@Suite(.onBothEngines)
struct RefreshFailureTests {
    /// Signs in with a token that is worth refreshing after half an hour.
    private static func aging(_ body: (Scene) async throws -> Void) async throws {
        try await Scene.open(answering: .init(refreshIn: .seconds(1_800))) { scene in
            scene.clock.advance(by: 1_801)
            try await body(scene)
        }
    }

    @Test func `C61: a token worth refreshing is refreshed, and replaced`() async throws {
        try await Self.aging { (scene: Scene) async throws in
            let result = try await scene.manager().acquireTokenSilently(scene.request())
            #expect(result.source == .refresh)
            #expect(result.freshness == .fresh)
            #expect(scene.tokenRequestCount == 1)
            await #expect(try scene.store.status().accessTokens == 1)
        }
    }

    @Test func `C93: a refresh that is cut off says that its token may have been spent`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let transport = InterceptingTransport(Scene.transport) { request in
                if request.method == "POST" { throw HTTPTransportError.timedOut(host: "h") }
            }
            let manager = try scene.manager(transport: transport)
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            #expect(error?.networkError?.code == .timedOut)
            #expect(error?.isOutage == true)
            #expect(error?.remedy?.code == .retry)
            #expect(error?.remedy?.advice.contains("the refresh token may have been spent") == true)
        }
    }

    @Test func `C62 and C63: an outage returns the stored token and is not tried again at once`() async throws {
        try await Self.aging { (scene: Scene) async throws in
            scene.provider.faults.add(.status(503, at: "token", times: 2))
            let manager = try scene.manager()
            for net in [2, 2] {
                let result = try await manager.acquireTokenSilently(scene.request())
                #expect(result.source == .cache)
                #expect(result.freshness == .aging)
                #expect(result.refreshFailed)
                #expect(scene.tokenRequestCount == net)
            }
        }
    }

    @Test func `C64: the stored token is returned without a network`() async throws {
        try await Self.aging { (scene: Scene) async throws in
            scene.provider.faults.add(.lostResponse(at: "token", times: 2))
            let result = try await scene.manager().acquireTokenSilently(scene.request())
            #expect(result.freshness == .aging)
            #expect(result.refreshFailed)
            #expect(!result.interactionSoon)
        }
    }

    @Test func `C64: the stored token is returned while the issuer throttles`() async throws {
        try await Self.aging { (scene: Scene) async throws in
            scene.provider.faults.add(.tooManyRequests(seconds: 30, at: "token"))
            let result = try await scene.manager().acquireTokenSilently(scene.request())
            #expect(result.freshness == .aging)
            #expect(result.refreshFailed)
            #expect(scene.tokenRequestCount == 1)
        }
    }

    @Test func `C64: the stored token is returned when the session has ended, and says so`() async throws {
        try await Self.aging { (scene: Scene) async throws in
            scene.refuse("invalid_grant")
            let result = try await scene.manager().acquireTokenSilently(scene.request())
            #expect(result.freshness == .aging)
            #expect(result.interactionSoon)
            #expect(!result.refreshFailed)
        }
    }

    @Test func `C64: the stored token is returned without a refresh token, and says so`() async throws {
        try await Self.aging { (scene: Scene) async throws in
            for token in try scene.refreshTokens { try await scene.store.removeRefreshToken(token) }
            let result = try await scene.manager().acquireTokenSilently(scene.request())
            #expect(result.freshness == .aging)
            #expect(result.interactionSoon)
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test(arguments: [false, true])
    func `C65: an expired token is returned in an outage only if that is allowed`(isAllowed: Bool) async throws {
        try await Scene.open(answering: .init(extendedExpiresIn: .seconds(7_200))) { scene in
            scene.expire()
            scene.provider.faults.add(.status(503, at: "token", times: 2))
            let manager = try scene.manager { $0.allowsExtendedLifetime = isAllowed }
            guard isAllowed else {
                let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
                guard error?.code == .unavailable else {
                    throw ExpectationFailure("unavailable, not \(String(describing: error))")
                }
                return
            }
            let result = try await manager.acquireTokenSilently(scene.request())
            #expect(result.freshness == .extended)
            #expect(result.refreshFailed)
        }
    }

    @Test func `C66: a refusal with an unknown suberror needs interaction, keeps the token`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.refuse("invalid_grant", suberror: "my_suberror")
            let error = try await acquisitionError { try await scene.manager().acquireTokenSilently(scene.request()) }
            #expect(error?.interaction == .refused)
            #expect(error?.refusal?.suberror == "my_suberror")
            #expect(error?.events.first?.kind == .signIn)
            #expect(try scene.refreshTokens.count == 1)
        }
    }

    @Test func `C67: a bad token is removed, and the next call sends no request`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.refuse("invalid_grant", suberror: "bad_token")
            let manager = try scene.manager()
            for _ in 1...2 {
                let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
                #expect(error?.needsInteraction == true)
                #expect(scene.tokenRequestCount == 1)
            }
            #expect(try scene.refreshTokens.isEmpty)
        }
    }

    @Test func `C68: a bad token that was replaced meanwhile leaves the new one alone`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.refuse("invalid_grant", suberror: "bad_token")
            let other = try scene.openAgain()
            let transport = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                var response = TokenResponse()
                response.refreshToken = Secret("rt_newer")
                let request = try TokenRequest(
                    clientID: Scene.client,
                    authority: scene.authority,
                    scope: Scene.toDo,
                    grant: .refreshToken
                )
                if let used = try scene.refreshTokens.first { try other.save(response, for: request, refreshing: used) }
            }
            let manager = try scene.manager(transport: transport)
            let error = try await acquisitionError { try await manager.acquireTokenSilently(scene.request()) }
            #expect(error?.needsInteraction == true)
            #expect(try scene.refreshTokens.map { $0.secret.reveal() } == ["rt_newer"])
        }
    }

    @Test func `C69: a deleted user loses this client's credentials and keeps another's`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try await scene.signIn(client: "otp-app")
            scene.expire()
            scene.refuse("invalid_grant", suberror: "user_account_deleted")
            let error = try await acquisitionError { try await scene.manager().acquireTokenSilently(scene.request()) }
            guard error?.interaction == .accountDeleted else { throw ExpectationFailure("accountDeleted") }
            await #expect(try scene.store.signedInAccounts(client: Scene.client).isEmpty)
            await #expect(try scene.store.signedInAccounts(client: "otp-app").count == 1)
            await #expect(try scene.store.refreshTokens(of: scene.account, client: "otp-app").count == 1)
        }
    }

    @Test func `a late answer that the user was deleted leaves a newer session alone`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let newer = try await Login(provider: scene.provider, transport: Scene.transport)
                .response(client: Scene.client, scope: Scene.toDo)
            scene.refuse("invalid_grant", suberror: "user_account_deleted")
            let other = try scene.openAgain()
            let transport = InterceptingTransport(Scene.transport) { request in
                guard request.url.hasSuffix("/token") else { return }
                try other.save(newer, for: scene.wire())
            }
            let before = try scene.refreshTokens
            let error = try await acquisitionError {
                try await scene.manager(transport: transport).acquireTokenSilently(scene.request())
            }
            guard error?.interaction == .accountDeleted else { throw ExpectationFailure("accountDeleted") }
            await #expect(try scene.store.signedInAccounts(client: Scene.client).count == 1)
            #expect(try scene.refreshTokens.count == 1)
            #expect(try scene.refreshTokens != before)
        }
    }

    @Test func `C70: refused scopes, clients and grants have their own errors, keep the token`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let manager = try scene.manager()
            scene.refuse("invalid_scope")
            scene.refuse("invalid_client", status: 401)
            scene.refuse("unauthorized_client", suberror: "protection_policy_required")
            var reasons: [String] = []
            for _ in 1...3 {
                switch try await acquisitionError({ try await manager.acquireTokenSilently(scene.request()) })?.code {
                case .invalidScope: reasons.append("scope")
                case .clientMisconfigured: reasons.append("client")
                case .policyRequired: reasons.append("policy")
                default: reasons.append("other")
                }
            }
            #expect(reasons == ["scope", "client", "policy"])
            #expect(try scene.refreshTokens.count == 1)
        }
    }

    @Test func `C76: a token endpoint in another cloud never sees the refresh token`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let base = scene.provider.baseURL
            let body = #"{"issuer":"\#(base)/x/v2.0","token_endpoint":"https://login.example.net/token"}"#
            scene.provider.faults.add(.answer(body: body, at: "metadata"))
            let error = try await acquisitionError { try await scene.manager().acquireTokenSilently(scene.request()) }
            guard error?.interaction == .foreignEndpoint else {
                throw ExpectationFailure("foreignEndpoint")
            }
            #expect(scene.tokenRequestCount == 0)
        }
    }

    @Test(arguments: ["use_dpop_nonce", "invalid_dpop_proof"])
    func `where no proof was sent, one that is wanted asks for a sign-in with DPoP`(code: String) async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.refuse(code)
            let error = try await acquisitionError { try await scene.manager().acquireTokenSilently(scene.request()) }
            #expect(error?.dpopError?.code == .noKey)
            #expect(error?.needsInteraction == true)
            #expect(try scene.refreshTokens.count == 1)
        }
    }

    @Test func `C77: a 403 has its own error and keeps the token`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            scene.provider.faults.add(.answer(status: 403, body: "<html>", at: "token"))
            let error = try await acquisitionError { try await scene.manager().acquireTokenSilently(scene.request()) }
            guard let answer = error, answer.code == .unusableAnswer else { throw ExpectationFailure("unusableAnswer") }
            #expect(answer.status == 403)
            #expect(try scene.refreshTokens.count == 1)
        }
    }

    @Test func `C78: another account's tokens are refused and nothing is stored`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            scene.expire()
            let before = try scene.refreshTokens.map { $0.secret.reveal() }
            let info = Base64URL.encode(Array(#"{"uid":"u2","utid":"t1"}"#.utf8))
            scene.answer(#"{"access_token":"x","refresh_token":"y","client_info":"\#(info)","expires_in":3600}"#)
            let error = try await acquisitionError { try await scene.manager().acquireTokenSilently(scene.request()) }
            guard error?.code == .accountMismatch else { throw ExpectationFailure("accountMismatch") }
            #expect(try scene.refreshTokens.map { $0.secret.reveal() } == before)
            await #expect(try scene.store.status().accounts == 1)
        }
    }

    @Test func `C79: when the app's own token has been revoked, the family's is tried`() async throws {
        try await Scene.open { (scene: Scene) async throws in
            try scene.addFamilyToken("family-token")
            try scene.store.withWriter { try $0.update("app_metadata", set: "family_id = '1'") }
            scene.expire()
            scene.refuse("invalid_grant", suberror: "bad_token")
            scene.answer(#"{"access_token":"new","expires_in":3600,"foci":"1"}"#)
            let manager = try scene.manager { $0.usesFamilyTokens = true }
            let result = try await manager.acquireTokenSilently(scene.request())
            #expect(result.accessToken.secret == Secret("new"))
            #expect(scene.tokenRequestCount == 2)
        }
    }
}
