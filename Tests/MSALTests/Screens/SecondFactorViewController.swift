import MSAL

/// A second factor and its registration, by every delegate there is for them.
@MainActor
final class SecondFactorViewController: ViewController {
    var authMethods: [MSALAuthMethod] = []
    var awaitingState: AwaitingMFAState?
    var mfaState: MFARequiredState?
    var registrationState: RegisterStrongAuthState?
    var verificationState: RegisterStrongAuthVerificationRequiredState?

    func signInPressed(_: Any) {
        let parameters = MSALNativeAuthSignInParameters(username: emailTextField.text ?? "")
        parameters.password = passwordTextField.text
        nativeAuth.signIn(parameters: parameters, delegate: self)
    }

    func contactEntered(_ contact: String) {
        let parameters = MSALNativeAuthChallengeAuthMethodParameters(
            authMethod: authMethods[0],
            verificationContact: contact
        )
        if let verificationState {
            verificationState.challengeAuthMethod(parameters: parameters, delegate: self)
        } else {
            registrationState?.challengeAuthMethod(parameters: parameters, delegate: self)
        }
    }
}

extension SecondFactorViewController: SignInStartDelegate {
    func onSignInStartError(error: SignInStartError) {
        resultTextView.text = "Error signing in: \(error.errorDescription ?? "no description")"
    }

    func onSignInCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        newState.submitCode(code: retrieveNewCode(), delegate: self)
    }

    func onSignInAwaitingMFA(authMethods: [MSALAuthMethod], newState: AwaitingMFAState) {
        (self.authMethods, awaitingState) = (authMethods, newState)
        resultTextView.text = "Choose of \(authMethods.map(\.id))"
    }

    func onSignInStrongAuthMethodRegistration(authMethods: [MSALAuthMethod], newState: RegisterStrongAuthState) {
        (self.authMethods, registrationState) = (authMethods, newState)
        resultTextView.text = "Register one of \(authMethods.map(\.id))"
    }

    func onSignInCompleted(result: MSALNativeAuthUserAccountResult) {
        resultTextView.text = "Signed in as \(result.account.username ?? "nobody")"
    }
}

extension SecondFactorViewController: SignInVerifyCodeDelegate {
    func onSignInVerifyCodeError(error: VerifyCodeError, newState: SignInCodeRequiredState?) {
        newState?.submitCode(code: retrieveNewCode(), delegate: self)
    }
}

extension SecondFactorViewController: MFARequestChallengeDelegate {
    func onMFARequestChallengeError(error: MFARequestChallengeError, newState: MFARequiredState?) {
        resultTextView.text = error.isAuthMethodBlocked ? "Method blocked" : "Error: \(error.description)"
    }

    func onMFARequestChallengeVerificationRequired(
        newState: MFARequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        mfaState = newState
        resultTextView.text = "Code sent by \(channelTargetType)"
    }
}

extension SecondFactorViewController: MFASubmitChallengeDelegate {
    func onMFASubmitChallengeError(error: MFASubmitChallengeError, newState: MFARequiredState?) {
        mfaState = newState
        resultTextView.text = error.isInvalidChallenge ? "Wrong code" : "Error: \(error.description)"
    }
}

extension SecondFactorViewController: RegisterStrongAuthChallengeDelegate {
    func onRegisterStrongAuthChallengeError(
        error: RegisterStrongAuthChallengeError,
        newState: RegisterStrongAuthState?
    ) {
        registrationState = newState
        resultTextView.text = error.isInvalidInput ? "No contact" : "Error: \(error.description)"
    }

    func onRegisterStrongAuthVerificationRequired(
        result: MSALNativeAuthRegisterStrongAuthVerificationRequiredResult
    ) {
        verificationState = result.newState
        resultTextView.text = "Code of \(result.codeLength) sent to \(result.sentTo)"
    }
}

extension SecondFactorViewController: RegisterStrongAuthSubmitChallengeDelegate {
    func onRegisterStrongAuthSubmitChallengeError(
        error: RegisterStrongAuthSubmitChallengeError,
        newState: RegisterStrongAuthVerificationRequiredState?
    ) {
        verificationState = newState
        resultTextView.text = error.isInvalidChallenge ? "Wrong code" : "Error: \(error.description)"
    }
}
