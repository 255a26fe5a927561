import MSAL

/// A password reset, and the sign-in after it.
@MainActor
final class ResetPasswordViewController: ViewController {
    var codeState: ResetPasswordCodeRequiredState?
    var passwordState: ResetPasswordRequiredState?

    func resetPressed(_: Any) { nativeAuth.resetPassword(username: emailTextField.text ?? "", delegate: self) }

    func resetWithParametersPressed(_: Any) {
        let parameters = MSALNativeAuthResetPasswordParameters(username: emailTextField.text ?? "")
        nativeAuth.resetPassword(parameters: parameters, delegate: self)
    }
}

extension ResetPasswordViewController: ResetPasswordStartDelegate {
    func onResetPasswordStartError(error: ResetPasswordStartError) {
        resultTextView.text = error.isInvalidUsername ? "Invalid username" : "Error: \(error.description)"
    }

    func onResetPasswordCodeRequired(
        newState: ResetPasswordCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        codeState = newState
        resultTextView.text = "Code sent to \(sentTo)"
    }
}

extension ResetPasswordViewController: ResetPasswordVerifyCodeDelegate {
    func onResetPasswordVerifyCodeError(error: VerifyCodeError, newState: ResetPasswordCodeRequiredState?) {
        codeState = newState
        resultTextView.text = error.isInvalidCode ? "Wrong code" : "Error: \(error.description)"
    }

    func onPasswordRequired(newState: ResetPasswordRequiredState) {
        passwordState = newState
        resultTextView.text = "New password?"
    }
}

extension ResetPasswordViewController: ResetPasswordResendCodeDelegate {
    func onResetPasswordResendCodeError(error: ResendCodeError, newState: ResetPasswordCodeRequiredState?) {
        resultTextView.text = "Error: \(error.description)"
    }

    func onResetPasswordResendCodeRequired(
        newState: ResetPasswordCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        codeState = newState
        resultTextView.text = "Another code sent to \(sentTo)"
    }
}

extension ResetPasswordViewController: ResetPasswordRequiredDelegate {
    func onResetPasswordRequiredError(error: PasswordRequiredError, newState: ResetPasswordRequiredState?) {
        passwordState = newState
        resultTextView.text = error.isInvalidPassword ? "Another password?" : "Error: \(error.description)"
    }

    func onResetPasswordCompleted(newState: SignInAfterResetPasswordState) {
        newState.signIn(parameters: MSALNativeAuthSignInAfterResetPasswordParameters(), delegate: self)
    }
}

extension ResetPasswordViewController: SignInAfterResetPasswordDelegate {
    func onSignInAfterResetPasswordError(error: SignInAfterResetPasswordError) {
        resultTextView.text = "Error: \(error.description)"
    }

    func onSignInCompleted(result: MSALNativeAuthUserAccountResult) {
        resultTextView.text = "Signed in as \(result.account.username ?? "nobody")"
    }
}
