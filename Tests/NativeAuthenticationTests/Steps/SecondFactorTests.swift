import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct SecondFactorTests {
    private static let second = "second@example.org"

    /// Cleo's methods, after her password.
    private func choice(_ scene: NativeScene) async throws -> AwaitingMFAState {
        let parameters = SignInParameters(username: NativeScene.cleo, password: NativeScene.cleosPassword)
        return try await scene.app("mfa-app").signIn(parameters).mfaState
    }

    private func registration(_ scene: NativeScene, scope: Scope = Scope([])) async throws -> RegisterStrongAuthState {
        let parameters = SignInParameters(username: NativeScene.bo, scope: scope)
        let state = try await scene.app("mfa-app").signIn(parameters).codeState
        return try await state.submitCode(scene.code()).registration
    }

    private func method(_ id: String, _ methods: [NativeAuthentication.AuthMethod]) throws
        -> NativeAuthentication.AuthMethod
    { try #require(methods.first { $0.id == id }) }

    @Test func `N51: a wrong second factor code leaves the state good for the right one`() async throws {
        try await NativeScene.open { scene in
            let choice = try await choice(scene)
            #expect(choice.authMethods.map(\.id) == ["m-email", "m-sms", "m-blocked"])
            let state = try await choice.requestChallenge(method("m-email", choice.authMethods))
            #expect(state.delivery.channelTargetType.isEmailType)
            #expect(state.delivery.codeLength == 8)
            let address = "cleo.second@example.org"
            let error = try await failure(of: state.submitChallenge, scene.wrongCode(to: address))
            #expect(error.isInvalidChallenge)
            scene.provider.audit.reset()
            #expect(try await failure(of: state.submitChallenge, Secret("")).isInvalidChallenge)
            #expect(scene.provider.audit.counts.isEmpty)
            let account = try await #require(error.state).submitChallenge(scene.code(to: address))
            #expect(account.account.username == NativeScene.cleo)
        }
    }

    @Test func `N52: after a change of method only the newest code is accepted`() async throws {
        try await NativeScene.open { scene in
            let choice = try await choice(scene)
            let first = try await choice.requestChallenge(method("m-email", choice.authMethods))
            let second = try await first.requestChallenge(method("m-sms", choice.authMethods))
            #expect(second.delivery.channelTargetType.isSMSType)
            let (old, new) = (try scene.code(to: "cleo.second@example.org"), try scene.code(to: "+593987654321"))
            if old != new { #expect(try await failure(of: second.submitChallenge, old).isInvalidChallenge) }
            _ = try await second.submitChallenge(new)
        }
    }

    @Test func `N52: a blocked method leaves the choice`() async throws {
        try await NativeScene.open { scene in
            let choice = try await choice(scene)
            let blocked = try method("m-blocked", choice.authMethods)
            let error = try await failure(of: choice.requestChallenge, blocked)
            #expect(error.isAuthMethodBlocked)
            #expect(error.description.contains("blocked"))
            let state = try await #require(error.state).requestChallenge(method("m-email", choice.authMethods))
            #expect(try await failure(of: state.requestChallenge, blocked).isAuthMethodBlocked)
            _ = try await state.submitChallenge(scene.code(to: "cleo.second@example.org"))
        }
    }

    @Test func `N53, D3: a method is registered, and the scope asked for first is granted`() async throws {
        try await NativeScene.open { scene in
            let registration = try await registration(scene, scope: NativeScene.toDo)
            let email = try method("email", registration.authMethods)
            let state = try await registration.challengeAuthMethod(email, contact: Self.second).verification
            #expect(state.delivery.sentTo == Self.second)
            let error = try await failure(of: state.submitChallenge, scene.wrongCode(to: Self.second))
            #expect(error.isInvalidChallenge)
            #expect(try await failure(of: state.submitChallenge, Secret("")).isInvalidChallenge)
            let account = try await #require(error.state).submitChallenge(scene.code(to: Self.second))
            #expect(try await account.accessToken().accessToken.scope == NativeScene.toDo)
            #expect(scene.requests["token"] == 2)
        }
    }

    @Test func `N53: a contact may be changed before its code is entered`() async throws {
        try await NativeScene.open { scene in
            let registration = try await registration(scene)
            let email = try method("email", registration.authMethods)
            let first = try await registration.challengeAuthMethod(email, contact: "first@example.org").verification
            let second = try await first.challengeAuthMethod(email, contact: Self.second).verification
            let code = try scene.code(to: Self.second)
            await #expect(throws: Never.self) { try await second.submitChallenge(code) }
        }
    }

    @Test func `N54: an address verified in the same flow needs no code`() async throws {
        try await NativeScene.open { scene in
            let registration = try await registration(scene)
            let email = try method("email", registration.authMethods)
            let account = try await registration.challengeAuthMethod(email, contact: NativeScene.bo).account
            #expect(account.account.username == NativeScene.bo)
            #expect(scene.messages == 1)
        }
    }

    @Test func `N55: malformed and blocked contacts have two errors and leave the state`() async throws {
        try await NativeScene.open { scene in
            let state = try await registration(scene)
            let email = try method("email", state.authMethods)
            let malformed = try await failure(of: state.challengeAuthMethod, email, "+12")
            #expect(malformed.isInvalidInput)
            #expect(malformed.state != nil)
            let blocked = try await failure(of: state.challengeAuthMethod, email, "blocked@example.org")
            #expect(blocked.isVerificationContactBlocked)
            #expect(blocked.remedy?.advice == "the contact is blocked, give another")
            scene.provider.audit.reset()
            #expect(try await failure(of: state.challengeAuthMethod, email, "").isInvalidInput)
            #expect(scene.provider.audit.counts.isEmpty)
            let next = try #require(blocked.state)
            let verification = try await next.challengeAuthMethod(email, contact: Self.second).verification
            #expect(try await failure(of: verification.challengeAuthMethod, email, " ").isInvalidInput)
            _ = try await verification.submitChallenge(scene.code(to: Self.second))
        }
    }

    @Test func `N56: an app that announced nothing is sent to the browser, with the reason`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("mfa-app") { $0.capabilities = [] }
            let parameters = SignInParameters(username: NativeScene.cleo, password: NativeScene.cleosPassword)
            let error = try await failure(of: app.signIn, parameters)
            #expect(error.isBrowserRequired)
            #expect(error.description.contains("mfa_required"))
        }
    }

    @Test func `D4: a second factor may follow a sign-up or a reset`() async throws {
        try await NativeScene.open { scene in
            let app = try scene.app("mfa-app")
            let reset = try await app.resetPassword(username: NativeScene.cleo)
            let password = try await reset.submitCode(scene.code(to: NativeScene.cleo))
            let choice = try await password.submitPassword(NativeScene.newPassword).signIn().mfaState
            let state = try await choice.requestChallenge(method("m-sms", choice.authMethods))
            let code = try scene.code(to: "+593987654321")
            await #expect(throws: Never.self) { try await state.submitChallenge(code) }
            let parameters = SignUpParameters(username: NativeScene.new, password: NativeScene.newPassword)
            let signUp = try await app.signUp(parameters).codeState
            let done = try await signUp.submitCode(scene.code(to: NativeScene.new)).done
            await #expect(throws: Never.self) { try await done.signIn().registration }
        }
    }
}
