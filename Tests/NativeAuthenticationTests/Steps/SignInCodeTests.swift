import Foundation
import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct SignInCodeTests {
    @Test func `N01, S48, S53: a code is sent, and its address is shown masked`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            #expect(state.delivery.sentTo == "b***o@e***e.org")
            #expect(state.delivery.channelTargetType.isEmailType)
            #expect(!state.delivery.channelTargetType.isSMSType)
            #expect(state.delivery.codeLength == 8)
            #expect(scene.requests == ["initiate": 1, "challenge": 1])
            #expect(scene.messages == 1)
        }
    }

    @Test func `N02, S59: the right code stores the account, its tokens and its claims`()
        async throws
    {
        try await NativeScene.open { scene in
            let account = try await scene.signInBo()
            #expect(account.accountClaims[path: "preferred_username"]?.text == NativeScene.bo)
            #expect(account.account.username == NativeScene.bo)
            let (id, store) = (account.account.id, scene.store)
            await #expect(try store.accounts().map(\.id) == [id])
            await #expect(try store.refreshTokens(of: id, client: "otp-app").count == 1)
            await #expect(try store.idTokens(of: id, client: "otp-app").count == 1)
            await #expect(try store.status().accessTokens == 1)
        }
    }

    @Test func `N03, S58: a wrong code leaves the state good for the right one`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            let error = try await failure(of: state.submitCode, scene.wrongCode())
            #expect(error.isInvalidCode)
            #expect(!error.isBrowserRequired)
            #expect(error.errorCodes == [50181])
            let again = try #require(error.state)
            #expect(try await again.submitCode(scene.code()).account.account.username == NativeScene.bo)
        }
    }

    @Test func `N04: an empty code is refused without a request`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            scene.provider.audit.reset()
            let error = try await failure(of: state.submitCode, Secret(""))
            #expect(error.isInvalidCode)
            #expect(scene.provider.audit.counts.isEmpty)
            _ = try await #require(error.state).submitCode(scene.code()).account
        }
    }

    @Test func `N05, S54: another code voids the first`() async throws {
        try await NativeScene.open { scene in
            let first = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            let old = try scene.code()
            let second = try await first.resendCode()
            #expect(scene.messages == 2)
            #expect(second.delivery == first.delivery)
            if try scene.code() != old {
                #expect(try await failure(of: second.submitCode, old).isInvalidCode)
            }
            _ = try await second.submitCode(scene.code()).account
        }
    }

    @Test func `N06: an expired code is asked for again, an expired flow has ended`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            scene.provider.clock.advance(by: 360)
            let late = try await failure(of: state.submitCode, scene.code())
            #expect(late.isInvalidCode)
            #expect(late.state != nil)
            scene.provider.clock.advance(by: 300)
            let over = try await failure(of: state.submitCode, scene.code())
            #expect(over.kind == .generalError)
            #expect(over.errorCodes == [552_003])
            #expect(over.description.contains("expired_token"))
            #expect(try scene.isUntouched)
        }
    }

    @Test func `N06: who asks for another code in a flow that has ended is told to start again`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            scene.provider.clock.advance(by: 660)
            let error = await #expect(throws: StepError<ResendCodeErrorKind, SignInCodeRequiredState>.self) {
                try await state.resendCode()
            }
            #expect(error?.error.remedy?.advice == "start again")
        }
    }

    @Test func `N07: five wrong codes void the right one until another is sent`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
            for _ in 1...5 { _ = try await failure(of: state.submitCode, scene.wrongCode()) }
            let error = try await failure(of: state.submitCode, scene.code())
            #expect(error.isInvalidCode)
            let again = try await #require(error.state).resendCode()
            _ = try await again.submitCode(scene.code()).account
        }
    }

    @Test(arguments: ["otp-app", "pwd-app", "mfa-app"], ["", "  "])
    func `N08, S51: a blank username is refused without a request`(client: String, username: String) async throws {
        try await NativeScene.open { scene in
            let error = try await failure(of: scene.app(client).signIn, SignInParameters(username: username))
            #expect(error.isInvalidUsername)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `S50: a malformed address is left to the issuer to judge`() async throws {
        try await NativeScene.open { scene in
            let error = try await failure(of: scene.app().signIn, SignInParameters(username: "no address"))
            #expect(error.isUserNotFound)
            #expect(scene.requests == ["initiate": 1])
        }
    }

    @Test func `N09, S57: an unknown address is not found, with its correlation id`() async throws {
        try await NativeScene.open { scene in
            var parameters = SignInParameters(username: "nobody@example.org")
            let id = UUID()
            parameters.correlationID = id
            let error = try await failure(of: scene.app().signIn, parameters)
            #expect(error.isUserNotFound)
            #expect(error.errorCodes == [50034])
            #expect(error.correlationID == id)
            #expect(scene.provider.audit.entries.last?.correlationID == id.uuidString.lowercased())
        }
    }

    @Test func `N14: a password that is not asked for is not sent, and the log says so`() async throws {
        try await NativeScene.open { scene in
            let (recorder, log) = (RecordingTransport(), LogRecord())
            let app = try scene.app(transport: recorder) { $0.logger = log.logger }
            let parameters = SignInParameters(username: NativeScene.bo, password: NativeScene.anasPassword)
            _ = try await app.signIn(parameters).codeState
            #expect(recorder.texts.allSatisfy { !$0.contains("Quinoa") })
            #expect(!recorder.texts.isEmpty)
            #expect(log.lines.contains { $0.hasPrefix("warning") && $0.contains("password was not sent") })
        }
    }
}
