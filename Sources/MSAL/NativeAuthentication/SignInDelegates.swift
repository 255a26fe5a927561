public import NativeAuthentication

/// Receives the result of starting a sign-in.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInStartDelegate: SignInOutcomeDelegate {
    /// The sign-in did not begin.
    func onSignInStartError(error: SignInStartError)

    /// A code was sent; submit it with `newState`.
    func onSignInCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )

    /// The password is wanted.
    func onSignInPasswordRequired(newState: SignInPasswordRequiredState)
}

extension SignInStartDelegate {
    /// Tells that the delegate lacks this method.
    public func onSignInCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onSignInStartError(error: .unheard("onSignInCodeRequired(newState:sentTo:channelTargetType:codeLength:)"))
    }

    /// Tells that the delegate lacks this method.
    public func onSignInPasswordRequired(newState: SignInPasswordRequiredState) {
        onSignInStartError(error: .unheard("onSignInPasswordRequired(newState:)"))
    }
}

/// Receives the account that has signed in.
@MainActor
public protocol SignInCompletedDelegate: AnyObject, Sendable {
    /// The account has signed in.
    func onSignInCompleted(result: MSALNativeAuthUserAccountResult)
}

extension SignInCompletedDelegate {
    /// Tells that the delegate lacks this method.
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
    /// A second factor is wanted, by one of `authMethods`.
    func onSignInAwaitingMFA(authMethods: [MSALAuthMethod], newState: AwaitingMFAState)

    /// A method for a second factor must be registered, one of `authMethods`.
    func onSignInStrongAuthMethodRegistration(authMethods: [MSALAuthMethod], newState: RegisterStrongAuthState)
}

extension SignInOutcomeDelegate {
    /// Tells that the delegate lacks this method.
    public func onSignInAwaitingMFA(authMethods: [MSALAuthMethod], newState: AwaitingMFAState) {
        UnheardCallback.tell("onSignInAwaitingMFA(authMethods:newState:)")
    }

    /// Tells that the delegate lacks this method.
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
    /// The code was not taken; try again with `newState` where there is one.
    func onSignInVerifyCodeError(error: VerifyCodeError, newState: SignInCodeRequiredState?)
}

/// Receives the result of requesting another code for a sign-in.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInResendCodeDelegate: AnyObject, Sendable {
    /// No other code was sent; go on with `newState` where there is one.
    func onSignInResendCodeError(error: ResendCodeError, newState: SignInCodeRequiredState?)

    /// Another code was sent, and those before it are void.
    func onSignInResendCodeCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension SignInResendCodeDelegate {
    /// Tells that the delegate lacks this method.
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
    /// The password was not taken; try again with `newState` where there is one.
    func onSignInPasswordRequiredError(error: PasswordRequiredError, newState: SignInPasswordRequiredState?)
}

/// Receives the result of the sign-in after a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInAfterSignUpDelegate: SignInOutcomeDelegate {
    /// The sign-in failed; the sign-up has succeeded.
    func onSignInAfterSignUpError(error: SignInAfterSignUpError)
}

/// Receives the result of the sign-in after a reset.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignInAfterResetPasswordDelegate: SignInOutcomeDelegate {
    /// The sign-in failed; the password is set.
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
