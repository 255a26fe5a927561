import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

/// What each answer means at the later steps, and the way on from every error with a state.
struct StepErrorTests {
    private static func refusal(_ error: String, _ more: String = "") -> String {
        #"{"error":"\#(error)","error_description":"No."\#(more)}"#
    }

    private static func suberror(_ suberror: String, _ error: String = "invalid_grant") -> String {
        refusal(error, #","suberror":"\#(suberror)""#)
    }

    private static func number(_ number: Int, _ error: String) -> String {
        refusal(error, #","error_codes":[\#(number)]"#)
    }

    private func check(_ step: FlowStep, _ fault: Fault, kind: String, keepsState: Bool) async throws {
        try await NativeScene.open { scene in
            let failed = try await step.fail(in: scene) { scene.provider.faults.add(fault) }
            #expect(failed.kind == kind, "\(failed.description)")
            #expect((failed.goOn != nil) == keepsState)
            #expect(failed.hasRemedy)
            scene.provider.faults.removeAll()
            try await failed.goOn?()
        }
    }

    @Test(arguments: FlowStep.allCases)
    func `a redirect is for the browser`(step: FlowStep) async throws {
        let fault = Fault.answer(body: #"{"challenge_type":"redirect"}"#, at: step.route)
        try await check(step, fault, kind: "browserRequired", keepsState: step.keepsStateAfterRedirect)
    }

    @Test(
        arguments: FlowStep.allCases,
        [refusal("brand_new"), refusal("expired_token"), refusal("unauthorized_client"), suberror("newer_still")]
    )
    func `any other refusal is a general error`(step: FlowStep, body: String) async throws {
        let fault = Fault.answer(status: 400, body: body, at: step.route)
        try await check(step, fault, kind: "generalError", keepsState: step.keepsStateAfterError)
    }

    @Test(arguments: FlowStep.allCases)
    func `an outage is a general error`(step: FlowStep) async throws {
        let fault = Fault.status(503, at: step.route)
        try await check(step, fault, kind: "generalError", keepsState: step.keepsStateAfterError)
    }

    @Test(arguments: [
        (FlowStep.signInCode, suberror("invalid_oob_value"), "invalidCode"),
        (.signInPassword, number(50126, "invalid_grant"), "invalidPassword"),
        (.mfaRequest, suberror("provider_blocked_by_rep", "access_denied"), "authMethodBlocked"),
        (.mfaAgain, suberror("provider_blocked_by_rep", "access_denied"), "authMethodBlocked"),
        (.mfaSubmit, suberror("invalid_oob_value"), "invalidChallenge"),
        (.registerRequest, number(901_001, "invalid_request"), "invalidInput"),
        (.registerAgain, number(901_001, "invalid_request"), "invalidInput"),
        (.registerRequest, suberror("provider_blocked_by_rep", "access_denied"), "verificationContactBlocked"),
        (.registerSubmit, suberror("invalid_oob_value"), "invalidChallenge"),
        (.signUpCode, suberror("invalid_oob_value"), "invalidCode"),
        (.signUpCode, suberror("password_too_weak"), "invalidCode"),
        (.signUpPassword, suberror("password_too_weak"), "invalidPassword"),
        (.signUpPassword, suberror("password_too_short"), "invalidPassword"),
        (.signUpPassword, suberror("password_too_long"), "invalidPassword"),
        (.signUpPassword, suberror("password_is_invalid"), "invalidPassword"),
        (.signUpPassword, suberror("password_banned"), "invalidPassword"),
        (.resetCode, suberror("invalid_oob_value"), "invalidCode"),
        (.resetPassword, suberror("password_recently_used"), "invalidPassword"),
    ])
    func `an error that the user can correct leaves a state`(step: FlowStep, body: String, kind: String) async throws {
        try await check(step, .answer(status: 400, body: body, at: step.route), kind: kind, keepsState: true)
    }

    @Test(arguments: [
        (FlowStep.signInPassword, number(50034, "invalid_grant")), (.signInCode, refusal("user_not_found")),
        (.mfaRequest, suberror("nobody_knows", "access_denied")),
    ])
    func `the same error code in another step is a general error`(step: FlowStep, body: String) async throws {
        let fault = Fault.answer(status: 400, body: body, at: step.route)
        try await check(step, fault, kind: "generalError", keepsState: true)
    }

    @Test(arguments: [FlowStep.signInResend, .signUpResend, .resetResend, .mfaRequest, .mfaAgain])
    func `a request for a password in the place of a code ends the flow`(step: FlowStep) async throws {
        let body = #"{"continuation_token":"next","challenge_type":"password"}"#
        try await check(step, .answer(body: body, at: step.route), kind: "generalError", keepsState: false)
    }

    @Test(arguments: ["mfa_required", "registration_required"])
    func `a second request for a second factor ends the flow`(suberror: String) async throws {
        let body = Self.refusal("invalid_grant", #","suberror":"\#(suberror)","continuation_token":"next""#)
        try await check(
            .mfaSubmit,
            .answer(status: 400, body: body, at: "token"),
            kind: "generalError",
            keepsState: false
        )
    }

    @Test(arguments: [("invalid_oob_value", "invalidChallenge"), ("newer_still", "generalError")])
    func `a refused second factor leaves a state, also with a token beside it`(suberror: String, kind: String)
        async throws
    {
        let body = Self.refusal("invalid_grant", #","suberror":"\#(suberror)","continuation_token":"next""#)
        try await check(.mfaSubmit, .answer(status: 400, body: body, at: "token"), kind: kind, keepsState: true)
    }

    @Test(arguments: ["mfa_required", "registration_required"])
    func `a second factor without a token is a general error`(suberror: String) async throws {
        let fault = Fault.answer(status: 400, body: Self.suberror(suberror), at: "token")
        try await check(.signInCode, fault, kind: "generalError", keepsState: true)
    }

    @Test(arguments: [("mfa_required", "introspect"), ("registration_required", "register/introspect")])
    func `unreadable second factor methods end the flow`(suberror: String, route: String) async throws {
        try await NativeScene.open { scene in
            let body = Self.refusal("invalid_grant", #","suberror":"\#(suberror)","continuation_token":"next""#)
            for answer in [#"{"continuation_token":"x","methods":[]}"#, "{}"] {
                let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
                scene.provider.faults.add(.answer(status: 400, body: body, at: "token"))
                scene.provider.faults.add(.answer(body: answer, at: route))
                let error = try await failure(of: state.submitCode, scene.code())
                #expect(error.kind == .generalError)
                #expect(error.state == nil)
            }
        }
    }

    @Test(arguments: [
        (400, suberror("password_banned"), "invalidPassword", true),
        (400, refusal("user_not_found"), "generalError", false),
        (200, #"{"challenge_type":"redirect"}"#, "browserRequired", false), (200, "{}", "generalError", false),
        (200, #"{"status":"failed"}"#, "generalError", false), (200, #"{"status":"odd"}"#, "generalError", false),
    ])
    func `the last poll decides the result of a reset`(status: Int, body: String, kind: String, keepsState: Bool)
        async throws
    {
        try await NativeScene.open { scene in
            let start = try await scene.app("pwd-app").resetPassword(username: NativeScene.ana)
            let state = try await start.submitCode(scene.code(to: NativeScene.ana))
            scene.provider.faults.add(.answer(status: status, body: body, at: "resetpassword/poll_completion"))
            let error = try await failure(of: state.submitPassword, Secret("Cordillera-8-Sur"))
            #expect("\(error.kind)" == kind)
            #expect((error.state != nil) == keepsState)
            if let state = error.state { try await scene.givesPasswordAgain(state) }
        }
    }

    @Test(arguments: [
        (400, refusal("brand_new"), "generalError"), (200, #"{"challenge_type":"redirect"}"#, "browserRequired"),
    ])
    func `a sign-in after a sign-up or a reset fails without a state`(status: Int, body: String, kind: String)
        async throws
    {
        try await NativeScene.open { scene in
            let signUp = try await scene.app().signUp(SignUpParameters(username: NativeScene.new)).codeState
            let signedUp = try await signUp.submitCode(scene.code(to: NativeScene.new)).done
            scene.provider.faults.add(.answer(status: status, body: body, at: "token"))
            let first = try await failure { () throws(SignInAfterSignUpError) in try await signedUp.signIn() }
            #expect("\(first.kind)" == kind)
            let reset = try await scene.app("pwd-app").resetPassword(username: NativeScene.ana)
            let password = try await reset.submitCode(scene.code(to: NativeScene.ana))
            let done = try await password.submitPassword(Secret("Cordillera-8-Sur"))
            scene.provider.faults.add(.answer(status: status, body: body, at: "token"))
            let second = try await failure { () throws(SignInAfterResetPasswordError) in try await done.signIn() }
            #expect("\(second.kind)" == kind)
        }
    }

    @Test(arguments: [FlowStep.signUpCode, .signUpPassword, .signUpAttributes])
    func `a sign-up whose answer was lost advises to sign in`(step: FlowStep) async throws {
        try await NativeScene.open { scene in
            for fault in [Fault.status(503, at: step.route), .lostResponse(at: step.route)] {
                let failed = try await step.fail(in: scene) { scene.provider.faults.add(fault) }
                let advice = "; the account may exist by now, sign in to find out"
                #expect(failed.description.hasSuffix(advice), "\(failed.description)")
                scene.provider.faults.removeAll()
            }
        }
    }

    /// The error of a step whose task is cancelled before it begins.
    private func cancelled<Failure: Error>(
        _ type: Failure.Type,
        _ step: @escaping @Sendable () async throws -> Void
    ) async throws -> Failure {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await step()
        }
        guard case .failure(let error as Failure) = await task.result else { throw ExpectationFailure("a failure") }
        return error
    }

    @Test func `a sign-up that is cancelled before anything is sent goes on with the same code`() async throws {
        try await NativeScene.open { scene in
            let state = try await scene.app().signUp(SignUpParameters(username: NativeScene.new)).codeState
            let code = try scene.code(to: NativeScene.new)
            let error = try await cancelled(StepError<VerifyCodeErrorKind, SignUpCodeRequiredState>.self) {
                _ = try await state.submitCode(code)
            }
            #expect(error.underlyingError is CancellationError)
            #expect(error.remedy?.code == .retry)
            #expect(scene.requests["signup/continue"] == nil)
            _ = try await #require(error.state).submitCode(code).done
        }
    }

    @Test func `a reset that is cancelled before anything is sent does not say that the password is new`() async throws
    {
        try await NativeScene.open { scene in
            let start = try await scene.app("pwd-app").resetPassword(username: NativeScene.ana)
            let (code, password) = (try scene.code(to: NativeScene.ana), Secret("Cordillera-8-Sur"))
            let first = try await cancelled(StepError<VerifyCodeErrorKind, ResetPasswordCodeRequiredState>.self) {
                _ = try await start.submitCode(code)
            }
            let state = try await #require(first.state).submitCode(code)
            let second = try await cancelled(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>.self) {
                _ = try await state.submitPassword(password)
            }
            #expect(second.remedy?.code == .retry)
            #expect(scene.requests["resetpassword/submit"] == nil)
            _ = try await #require(second.state).submitPassword(password)
        }
    }
}
