import IssuerSupport
import NativeAuthentication
import OAuth

/// A step of a flow that can fail, with what leads to it and from it to the end.
enum FlowStep: String, CaseIterable {
    case signInCode, signInPassword, signInResend
    case mfaRequest, mfaAgain, mfaSubmit
    case registerRequest, registerAgain, registerSubmit
    case signUpCode, signUpPassword, signUpAttributes, signUpResend
    case resetCode, resetPassword, resetResend

    /// Where its request goes.
    var route: String {
        switch self {
        case .signInCode, .signInPassword, .mfaSubmit: "token"
        case .signInResend, .mfaRequest, .mfaAgain: "challenge"
        case .registerRequest, .registerAgain: "register/challenge"
        case .registerSubmit: "register/continue"
        case .signUpCode, .signUpPassword, .signUpAttributes: "signup/continue"
        case .signUpResend: "signup/challenge"
        case .resetCode: "resetpassword/continue"
        case .resetPassword: "resetpassword/submit"
        case .resetResend: "resetpassword/challenge"
        }
    }

    /// Whether an error that no words of the person caused leaves a state.
    var keepsStateAfterError: Bool {
        switch self {
        case .signUpCode, .signUpPassword, .signUpAttributes, .resetCode, .resetPassword: false
        default: true
        }
    }

    /// Whether a redirect leaves one.
    var keepsStateAfterRedirect: Bool {
        switch self {
        case .registerRequest, .registerAgain, .registerSubmit: false
        default: keepsStateAfterError
        }
    }

    /// Goes there, spoils the step, and tells how it ended.
    func fail(in scene: NativeScene, _ spoil: () -> Void) async throws -> FailedStep {
        switch self {
        case .signInCode, .signInPassword, .signInResend: try await failSignIn(scene, spoil)
        case .mfaRequest, .mfaAgain, .mfaSubmit: try await failSecondFactor(scene, spoil)
        case .registerRequest, .registerAgain, .registerSubmit: try await failRegistration(scene, spoil)
        case .signUpCode, .signUpPassword, .signUpAttributes, .signUpResend: try await failSignUp(scene, spoil)
        case .resetCode, .resetPassword, .resetResend: try await failReset(scene, spoil)
        }
    }
}
