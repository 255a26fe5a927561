import IssuerSupport
import NativeAuthentication
import OAuth

extension FlowStep {
    func failSignIn(_ scene: NativeScene, _ spoil: () -> Void) async throws -> FailedStep {
        if self == .signInPassword {
            let app = try scene.app("pwd-app")
            let state = try await app.signIn(SignInParameters(username: NativeScene.ana)).passwordState
            spoil()
            return FailedStep(try await failure(of: state.submitPassword, NativeScene.anasPassword)) {
                _ = try await $0.submitPassword(NativeScene.anasPassword).account
            }
        }
        let state = try await scene.app().signIn(SignInParameters(username: NativeScene.bo)).codeState
        spoil()
        func finish(_ state: SignInCodeRequiredState) async throws {
            _ = try await state.submitCode(scene.code()).account
        }
        guard self == .signInResend else {
            return FailedStep(try await failure(of: state.submitCode, scene.code()), finish)
        }
        let error = try await failure { () throws(StepError<ResendCodeErrorKind, SignInCodeRequiredState>) in
            try await state.resendCode()
        }
        return FailedStep(error, finish)
    }

    func failSecondFactor(_ scene: NativeScene, _ spoil: () -> Void) async throws -> FailedStep {
        let parameters = SignInParameters(username: NativeScene.cleo, password: NativeScene.cleosPassword)
        let choice = try await scene.app("mfa-app").signIn(parameters).mfaState
        let method = choice.authMethods[0]
        func finish(_ state: MFARequiredState) async throws {
            _ = try await state.submitChallenge(scene.code(to: "cleo.second@example.org"))
        }
        if self == .mfaRequest {
            spoil()
            return FailedStep(try await failure(of: choice.requestChallenge, method)) {
                try await finish(try await $0.requestChallenge(method))
            }
        }
        let state = try await choice.requestChallenge(method)
        spoil()
        if self == .mfaAgain {
            return FailedStep(try await failure(of: state.requestChallenge, method), finish)
        }
        let code = try scene.code(to: "cleo.second@example.org")
        return FailedStep(try await failure(of: state.submitChallenge, code), finish)
    }

    func failRegistration(_ scene: NativeScene, _ spoil: () -> Void) async throws -> FailedStep {
        let contact = "second@example.org"
        let code = try await scene.app("mfa-app").signIn(SignInParameters(username: NativeScene.bo)).codeState
        let choice = try await code.submitCode(scene.code()).registration
        let method = choice.authMethods[0]
        func finish(_ state: RegisterStrongAuthVerificationRequiredState) async throws {
            _ = try await state.submitChallenge(scene.code(to: contact))
        }
        if self == .registerRequest {
            spoil()
            return FailedStep(try await failure(of: choice.challengeAuthMethod, method, contact)) {
                try await finish(try await $0.challengeAuthMethod(method, contact: contact).verification)
            }
        }
        let state = try await choice.challengeAuthMethod(method, contact: contact).verification
        spoil()
        if self == .registerAgain {
            return FailedStep(try await failure(of: state.challengeAuthMethod, method, contact)) {
                try await finish(try await $0.challengeAuthMethod(method, contact: contact).verification)
            }
        }
        return FailedStep(try await failure(of: state.submitChallenge, scene.code(to: contact)), finish)
    }
}
