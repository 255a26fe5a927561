import IssuerSupport
import NativeAuthentication
import OAuth

extension FlowStep {
    private static let attributes = JSONValue.Object([("country", "Ecuador"), ("city", "Loja")])

    func failSignUp(_ scene: NativeScene, _ spoil: () -> Void) async throws -> FailedStep {
        let start = try await scene.app("pwd-app").signUp(SignUpParameters(username: NativeScene.new)).codeState
        func finish(_ state: SignUpPasswordRequiredState) async throws {
            try await finish(try await state.submitPassword(NativeScene.newPassword).attributesState)
        }
        func finish(_ state: SignUpAttributesRequiredState) async throws {
            _ = try await state.submitAttributes(Self.attributes).done.signIn().account
        }
        func finish(_ state: SignUpCodeRequiredState) async throws {
            try await finish(try await state.submitCode(scene.code(to: NativeScene.new)).passwordState)
        }
        switch self {
        case .signUpResend:
            spoil()
            let error = try await failure { () throws(StepError<ResendCodeErrorKind, SignUpCodeRequiredState>) in
                try await start.resendCode()
            }
            return FailedStep(error) { try await finish($0) }
        case .signUpCode:
            spoil()
            let error = try await failure(of: start.submitCode, scene.code(to: NativeScene.new))
            return FailedStep(error) { try await finish($0) }
        default: break
        }
        let password = try await start.submitCode(scene.code(to: NativeScene.new)).passwordState
        if self == .signUpPassword {
            spoil()
            let error = try await failure(of: password.submitPassword, NativeScene.newPassword)
            return FailedStep(error) { try await finish($0) }
        }
        let page = try await password.submitPassword(NativeScene.newPassword).attributesState
        spoil()
        return FailedStep(try await failure(of: page.submitAttributes, Self.attributes)) { try await finish($0) }
    }

    func failReset(_ scene: NativeScene, _ spoil: () -> Void) async throws -> FailedStep {
        let start = try await scene.app("pwd-app").resetPassword(username: NativeScene.ana)
        func finish(_ state: ResetPasswordRequiredState) async throws {
            _ = try await state.submitPassword(Secret("Cordillera-8-Sur")).signIn().account
        }
        func finish(_ state: ResetPasswordCodeRequiredState) async throws {
            try await finish(try await state.submitCode(scene.code(to: NativeScene.ana)))
        }
        switch self {
        case .resetResend:
            spoil()
            let error = try await failure { () throws(StepError<ResendCodeErrorKind, ResetPasswordCodeRequiredState>) in
                try await start.resendCode()
            }
            return FailedStep(error) { try await finish($0) }
        case .resetCode:
            spoil()
            let error = try await failure(of: start.submitCode, scene.code(to: NativeScene.ana))
            return FailedStep(error) { try await finish($0) }
        default: break
        }
        let password = try await start.submitCode(scene.code(to: NativeScene.ana))
        spoil()
        let error = try await failure(of: password.submitPassword, Secret("Cordillera-8-Sur"))
        return FailedStep(error) { try await finish($0) }
    }
}
