import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

struct ResetPasswordTests {
    private static let new = Secret("Cordillera-8-Sur")

    private func start(_ scene: NativeScene) async throws -> ResetPasswordCodeRequiredState {
        try await scene.app("pwd-app").resetPassword(username: NativeScene.ana)
    }

    private func passwordStep(_ scene: NativeScene) async throws -> ResetPasswordRequiredState {
        try await start(scene).submitCode(scene.code(to: NativeScene.ana))
    }

    private func begin(_ username: String, _ scene: NativeScene) async throws -> ResetPasswordStartError {
        let app = try scene.app("pwd-app")
        return try await failure { () throws(ResetPasswordStartError) in try await app.resetPassword(username: username)
        }
    }

    @Test func `N29: a reset is polled until the password is in force, and signs in`() async throws {
        try await NativeScene.open { scene in
            _ = try await scene.signInAna()
            let done = try await passwordStep(scene).submitPassword(Self.new)
            #expect(scene.pauses.all == [.seconds(1)])
            #expect(scene.requests["resetpassword/poll_completion"] == 2)
            #expect(try await done.signIn().account.account.username == NativeScene.ana)
            let old = SignInParameters(username: NativeScene.ana, password: NativeScene.anasPassword)
            #expect(try await failure(of: scene.app("pwd-app").signIn, old).isInvalidCredentials)
            let parameters = SignInParameters(username: NativeScene.ana, password: Self.new)
            _ = try await scene.app("pwd-app").signIn(parameters).account
        }
    }

    @Test func `N30: the session from before a reset has ended`() async throws {
        try await NativeScene.open { scene in
            let account = try await scene.signInAna()
            _ = try await passwordStep(scene).submitPassword(Self.new)
            let error = try await accessTokenFailure(account, NativeScene.toDo)
            #expect(error.isRefreshTokenExpired)
            #expect(error.description.contains("sign in again"))
        }
    }

    @Test func `N31: a password used lately leaves the state good for another`() async throws {
        try await NativeScene.open { scene in
            let state = try await passwordStep(scene)
            let error = try await failure(of: state.submitPassword, NativeScene.anasPassword)
            #expect(error.isInvalidPassword)
            #expect(error.suberror == "password_recently_used")
            _ = try await #require(error.state).submitPassword(Self.new)
        }
    }

    @Test func `N32: a user who signs in with codes cannot reset a password`() async throws {
        try await NativeScene.open { scene in
            let error = try await begin(NativeScene.bo, scene)
            #expect(error.isUserDoesNotHavePassword)
            #expect(error.errorCodes == [500_222])
        }
    }

    @Test func `N33: an unknown and a blank username have two errors`() async throws {
        try await NativeScene.open { (scene: NativeScene) async throws in
            #expect(try await begin("nobody@example.org", scene).isUserNotFound)
            scene.provider.audit.reset()
            #expect(try await begin("", scene).isInvalidUsername)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test func `N34: a reset that is still pending after six polls fails`() async throws {
        try await NativeScene.open { scene in
            let (state, body) = (try await passwordStep(scene), #"{"status":"in_progress"}"#)
            scene.provider.faults.add(.answer(body: body, at: "resetpassword/poll_completion", times: nil))
            let error = try await failure(of: state.submitPassword, Self.new)
            #expect(error.kind == .generalError)
            #expect(error.state == nil)
            #expect(scene.requests["resetpassword/poll_completion"] == 6)
            #expect(scene.pauses.all == Array(repeating: .seconds(1), count: 5))
        }
    }

    @Test func `N35, D6: a resend that fails leaves the state as it was`() async throws {
        try await NativeScene.open { scene in
            let state = try await start(scene)
            scene.provider.faults.add(.status(500, at: "resetpassword/challenge"))
            let error = try await failure { () throws(StepError<ResendCodeErrorKind, ResetPasswordCodeRequiredState>) in
                try await state.resendCode()
            }
            #expect(error.kind == .generalError)
            #expect(scene.messages == 1)
            let again = try #require(error.state)
            let password = try await again.submitCode(scene.code(to: NativeScene.ana))
            _ = try await password.submitPassword(Self.new)
        }
    }

    @Test func `a wrong and an empty code leave the state good for the right one`() async throws {
        try await NativeScene.open { scene in
            let state = try await start(scene)
            let error = try await failure(of: state.submitCode, scene.wrongCode(to: NativeScene.ana))
            #expect(error.isInvalidCode)
            scene.provider.audit.reset()
            #expect(try await failure(of: state.submitCode, Secret("")).isInvalidCode)
            #expect(scene.provider.audit.counts.isEmpty)
            let again = try await #require(error.state).resendCode()
            let password = try await again.submitCode(scene.code(to: NativeScene.ana))
            #expect(try await failure(of: password.submitPassword, Secret("")).isInvalidPassword)
        }
    }

    @Test func `D5: a password that was not set can be given again`() async throws {
        try await NativeScene.open { scene in
            let state = try await passwordStep(scene)
            let (body, route) = (#"{"status":"failed","continuation_token":"next"}"#, "resetpassword/poll_completion")
            scene.provider.faults.add(.answer(body: body, at: route))
            let error = try await failure(of: state.submitPassword, Self.new)
            #expect(error.isInvalidPassword)
            try await scene.givesPasswordAgain(#require(error.state))
        }
    }

    private static let advice = "the new password was submitted and may be in force, sign in with it"
    private static let poll = "resetpassword/poll_completion"

    @Test func `a reset whose last answer is lost is asked for once more, and signs in`() async throws {
        try await NativeScene.open { scene in
            let state = try await passwordStep(scene)
            scene.provider.faults.add(
                Fault(route: Self.poll) {
                    $0.after = 1
                    $0.losesResponse = true
                }
            )
            let done = try await state.submitPassword(Self.new)
            #expect(scene.requests["resetpassword/poll_completion"] == 3)
            #expect(try await done.signIn().account.account.username == NativeScene.ana)
        }
    }

    @Test(arguments: ["", #","poll_interval":-1"#, #","poll_interval":null"#])
    func `after a reset without a poll interval the new password may be in force`(interval: String) async throws {
        try await NativeScene.open { scene in
            let state = try await passwordStep(scene)
            let body = #"{"continuation_token":"next-token"\#(interval)}"#
            scene.provider.faults.add(.answer(body: body, at: "resetpassword/submit"))
            let error = try await failure(of: state.submitPassword, Self.new)
            #expect(error.reason.contains("does not say how often to ask"))
            #expect(error.remedy == .signIn(Self.advice))
        }
    }

    @Test func `a reset that is polled slowly ends within the time limit`() async throws {
        try await NativeScene.open { scene in
            let state = try await passwordStep(scene)
            let body = #"{"continuation_token":"next-token","poll_interval":1000000000000}"#
            scene.provider.faults.add(.answer(body: body, at: "resetpassword/submit"))
            scene.provider.faults.add(.answer(body: #"{"status":"in_progress"}"#, at: Self.poll, times: nil))
            let error = try await failure(of: state.submitPassword, Self.new)
            #expect(error.remedy == .signIn(Self.advice))
            let pauses = scene.pauses.all
            #expect(pauses.first == .seconds(10))
            #expect(pauses.allSatisfy { $0 <= .seconds(10) })
            #expect(pauses.reduce(.zero, +) <= .seconds(45))
        }
    }

    @Test func `a poll that came too early is repeated after the wait that the issuer asks for`() async throws {
        try await NativeScene.open { scene in
            let state = try await passwordStep(scene)
            scene.provider.faults.add(.tooManyRequests(seconds: 3, at: Self.poll))
            scene.provider.faults.add(.tooManyRequests(seconds: 3_000, at: Self.poll))
            _ = try await state.submitPassword(Self.new)
            #expect(scene.pauses.all.prefix(2) == [.seconds(3), .seconds(10)])
        }
    }

    @Test(arguments: [
        Fault.status(429, at: poll, times: nil), .status(403, at: poll), .answer(body: "{}", at: poll),
        .answer(body: #"{"status":"in_progress"}"#, at: poll, times: nil),
        .answer(status: 400, body: #"{"error":"expired_token"}"#, at: poll),
        .answer(body: "{}", at: "resetpassword/submit"), .status(503, at: "resetpassword/submit"),
    ])
    func `an error after the password was submitted says that it may be in force`(fault: Fault) async throws {
        try await NativeScene.open { scene in
            let state = try await passwordStep(scene)
            scene.provider.faults.add(fault)
            let error = try await failure(of: state.submitPassword, Self.new)
            #expect(error.kind == .generalError)
            #expect(error.remedy == .signIn(Self.advice))
        }
    }

    @Test(arguments: [
        Fault.tooManyRequests(seconds: 5, at: "resetpassword/submit"),
        .answer(status: 400, body: #"{"error":"expired_token"}"#, at: "resetpassword/submit"),
        .answer(body: #"{"status":"failed"}"#, at: poll),
    ])
    func `an error that left the old password in force does not say so`(fault: Fault) async throws {
        try await NativeScene.open { scene in
            let state = try await passwordStep(scene)
            scene.provider.faults.add(fault)
            let error = try await failure(of: state.submitPassword, Self.new)
            #expect(error.kind == .generalError)
            #expect(error.remedy?.code == .retry)
        }
    }
}
