public import NativeAuthentication

/// Receives the result of starting a sign-in.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInStartDelegate: SignInOutcomeDelegate {
    func onSignInStartError(error: SignInStartError)
    func onSignInCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
    func onSignInPasswordRequired(newState: SignInPasswordRequiredState)
}

extension SignInStartDelegate {
    public func onSignInCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onSignInStartError(error: .unheard("onSignInCodeRequired(newState:sentTo:channelTargetType:codeLength:)"))
    }

    public func onSignInPasswordRequired(newState: SignInPasswordRequiredState) {
        onSignInStartError(error: .unheard("onSignInPasswordRequired(newState:)"))
    }
}

/// Receives the account that has signed in.
@MainActor
public protocol SignInCompletedDelegate: AnyObject, Sendable {
    func onSignInCompleted(result: MSALNativeAuthUserAccountResult)
}

extension SignInCompletedDelegate {
    public func onSignInCompleted(result: MSALNativeAuthUserAccountResult) {
        UnheardCallback.tell("onSignInCompleted(result:)")
    }

    func hear(_ account: NativeAuthUserAccount, else report: @escaping UnheardCallback.Report) {
        UnheardCallback.hear(else: report) { onSignInCompleted(result: MSALNativeAuthUserAccountResult(account)) }
    }
}

/// Receives the result of the first factor of a sign-in.
@MainActor
public protocol SignInOutcomeDelegate: SignInCompletedDelegate {
    func onSignInAwaitingMFA(authMethods: [MSALAuthMethod], newState: AwaitingMFAState)
    func onSignInStrongAuthMethodRegistration(authMethods: [MSALAuthMethod], newState: RegisterStrongAuthState)
}

extension SignInOutcomeDelegate {
    public func onSignInAwaitingMFA(authMethods: [MSALAuthMethod], newState: AwaitingMFAState) {
        UnheardCallback.tell("onSignInAwaitingMFA(authMethods:newState:)")
    }

    public func onSignInStrongAuthMethodRegistration(
        authMethods: [MSALAuthMethod],
        newState: RegisterStrongAuthState
    ) {
        UnheardCallback.tell("onSignInStrongAuthMethodRegistration(authMethods:newState:)")
    }

    func hear(_ result: SignInResult, else report: @escaping UnheardCallback.Report) {
        UnheardCallback.hear(else: report) {
            switch result {
            case .awaitingMFA(let state): onSignInAwaitingMFA(authMethods: state.authMethods, newState: state)
            case .strongAuthMethodRegistration(let state):
                onSignInStrongAuthMethodRegistration(authMethods: state.authMethods, newState: state)
            case .completed(let account): onSignInCompleted(result: MSALNativeAuthUserAccountResult(account))
            }
        }
    }
}

/// Receives the result of submitting the code of a sign-in.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInVerifyCodeDelegate: SignInOutcomeDelegate {
    func onSignInVerifyCodeError(error: VerifyCodeError, newState: SignInCodeRequiredState?)
}

/// Receives the result of requesting another code for a sign-in.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInResendCodeDelegate: AnyObject, Sendable {
    func onSignInResendCodeError(error: ResendCodeError, newState: SignInCodeRequiredState?)
    func onSignInResendCodeCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension SignInResendCodeDelegate {
    public func onSignInResendCodeCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onSignInResendCodeError(
            error: .unheard("onSignInResendCodeCodeRequired(newState:sentTo:channelTargetType:codeLength:)"),
            newState: nil
        )
    }
}

/// Receives the result of submitting the password of a sign-in.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInPasswordRequiredDelegate: SignInOutcomeDelegate {
    func onSignInPasswordRequiredError(error: PasswordRequiredError, newState: SignInPasswordRequiredState?)
}

/// Receives the result of the sign-in after a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInAfterSignUpDelegate: SignInOutcomeDelegate {
    func onSignInAfterSignUpError(error: SignInAfterSignUpError)
}

/// Receives the result of the sign-in after a reset.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInAfterResetPasswordDelegate: SignInOutcomeDelegate {
    func onSignInAfterResetPasswordError(error: SignInAfterResetPasswordError)
}

/// How a delegate hears that it lacks a callback: by the error of the step that is under way.
enum UnheardCallback {
    typealias Report = @MainActor @Sendable (_ callback: String) -> Void

    @TaskLocal private static var report: Report?

    /// Calls back; what the delegate leaves out goes to `report`.
    @MainActor
    static func hear(else report: @escaping Report, _ call: () -> Void) { $report.withValue(report, operation: call) }

    /// Tells that the delegate has no `callback`.
    @MainActor
    static func tell(_ callback: String) { report?(callback) }
}
