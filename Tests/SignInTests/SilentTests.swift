import Foundation
import HTTPTransport
import LocalIdentityProvider
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct SilentTests {
    @Test func `S16, S17, S18, N66: silent tokens are stored, refreshed, or need interaction`() async throws {
        try await SignInScene.open { scene in
            let first = try await scene.signIn()
            let application = try scene.application(AbsentUser())
            let request = SilentRequest(account: first.account.id, scope: SignInScene.toDo)
            scene.provider.audit.reset()
            let cached = try await application.acquireTokenSilently(request)
            #expect(cached.source == .cache)
            #expect(cached.accessToken.secret == first.accessToken?.secret)
            #expect(scene.provider.audit.counts.isEmpty)
            let old = try await scene.store.refreshTokens(of: first.account.id, client: "b2c-app")[0].secret
            scene.provider.clock.advance(by: 3_601)
            let refreshed = try await application.acquireTokenSilently(request)
            #expect(refreshed.source == .refresh)
            #expect(refreshed.accessToken.secret != first.accessToken?.secret)
            #expect(refreshed.idToken != nil)
            #expect(scene.tokenRequestCount == 1)
            await #expect(try scene.store.refreshTokens(of: first.account.id, client: "b2c-app")[0].secret != old)
            scene.provider.clock.advance(by: 91 * 86_400)
            let error = try await acquisitionError { _ = try await application.acquireTokenSilently(request) }
            #expect(error?.needsInteraction == true)
        }
    }

    @Test func `a result says that its token is aging and the refresh failed`() async throws {
        try await SignInScene.open { scene in
            let aging = ChangedAnswers(SignInScene.transport) { $1["refresh_in"] = 1_800 }
            let application = try scene.application(AbsentUser(), transport: aging)
            var request = SilentRequest(account: try await scene.signIn().account.id, scope: SignInScene.toDo)
            request.forcesRefresh = true
            let fresh = try await application.acquireTokenSilently(request)
            #expect(fresh.freshness == .fresh)
            #expect(!fresh.refreshFailed)
            request.forcesRefresh = false
            scene.provider.clock.advance(by: 1_801)
            scene.provider.faults.add(.status(503, at: "token", times: 2))
            let result = try await application.acquireTokenSilently(request)
            #expect(result.source == .cache)
            #expect(result.freshness == .aging)
            #expect(result.refreshFailed)
            #expect(!result.interactionSoon)
        }
    }

    @Test func `S19: without an account a silent request is an error`() async throws {
        try await SignInScene.open { scene in
            let application = try scene.application(AbsentUser())
            #expect(try application.account(for: .userFlow(SignInScene.signUpOrSignIn)) == nil)
            #expect(try application.accounts().isEmpty)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `S20: the authority selects the user flow's tokens, the hint is for a sign-in`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            var request = SilentRequest(account: account.id, scope: SignInScene.toDo)
            request.authority = try scene.authority()
            request.loginHint = "username"
            let result = try await scene.application(AbsentUser()).acquireTokenSilently(request)
            #expect(result.source == .cache)
            #expect(result.scope.covers(SignInScene.toDo))
            #expect(InteractiveRequest(after: request, account: account).loginHint == "username")
        }
    }

    @Test func `S21: a reset password ends the session with its own error code`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            scene.provider.clock.advance(by: 3_601)
            var reset = InteractiveRequest(scope: SignInScene.toDo)
            reset.authority = try scene.authority(SignInScene.resetPassword)
            let user = try ScriptedUser { visitor in
                try await visitor.press("send_reset", ["username": SignInScene.ana])
                try await visitor.press("submit_code", ["code": scene.code(to: SignInScene.ana)])
                try await visitor.press("set_password", ["password": "Cordillera-8-Sur"])
            }
            _ = try await scene.application(user).acquireToken(reset)
            let request = SilentRequest(account: account.id, scope: SignInScene.toDo)
            let error = try await acquisitionError {
                _ = try await scene.application(AbsentUser()).acquireTokenSilently(request)
            }
            #expect(error?.needsInteraction == true)
        }
    }

    @Test func `S23: any other failure is an error without interaction`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            scene.provider.clock.advance(by: 3_601)
            scene.provider.faults.add(.status(503, at: "token", times: nil))
            let request = SilentRequest(account: account.id, scope: SignInScene.toDo)
            let error = try await acquisitionError {
                _ = try await scene.application(AbsentUser()).acquireTokenSilently(request)
            }
            #expect(error?.isOutage == true)
            #expect(error?.needsInteraction == false)
            #expect(error.map { !"\($0)".isEmpty } == true)
        }
    }

    @Test func `S27, S28, N68: a removed account loses its tokens, the other keeps them`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let other = try await scene.signIn(policy: SignInScene.editProfile).account
            let application = try scene.application(AbsentUser())
            #expect(try await application.account(for: .userFlow(SignInScene.signUpOrSignIn))?.id == account.id)
            #expect(try await application.account(for: .userFlow(SignInScene.editProfile))?.id == other.id)
            for _ in 1...2 { try await application.remove(account) }
            #expect(try await application.accounts().map(\.id) == [other.id])
            await #expect(try scene.store.refreshTokens(of: account.id, client: "b2c-app").isEmpty)
            await #expect(try scene.store.idTokens(of: account.id).isEmpty)
            await #expect(try scene.store.signInState(of: account.id, client: "b2c-app") == .signedOut)
            let request = SilentRequest(account: account.id, scope: SignInScene.toDo)
            let error = try await acquisitionError { _ = try await application.acquireTokenSilently(request) }
            #expect(error?.needsInteraction == true)
            let kept = SilentRequest(account: other.id, scope: SignInScene.toDo)
            #expect(try await application.acquireTokenSilently(kept).source == .cache)
        }
    }

    @Test func `S30: a user flow is found by its whole name, not by its end`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let application = try scene.application(AbsentUser())
            #expect(try await application.account(for: .userFlow("B2C_1_SUSI"))?.id == account.id)
            for name in ["susi", "1_susi", "b2c_1_sus"] {
                #expect(try await application.account(for: .userFlow(name)) == nil)
            }
        }
    }

    @Test func `S31, S32: one sign-in serves two APIs, and both tokens are stored`() async throws {
        try await SignInScene.open { scene in
            let account = try await scene.signIn().account
            let application = try scene.application(AbsentUser())
            scene.provider.audit.reset()
            for (scope, source) in [
                (SignInScene.demo, TokenResult.Source.refresh), (SignInScene.toDo, .cache),
                (SignInScene.demo, .cache),
            ] {
                let request = SilentRequest(account: account.id, scope: scope)
                let result = try await application.acquireTokenSilently(request)
                #expect(result.source == source)
                #expect(result.scope.covers(scope))
            }
            #expect(scene.tokenRequestCount == 1)
            #expect(scene.provider.audit.count(of: "authorize") == 0)
        }
    }
}
