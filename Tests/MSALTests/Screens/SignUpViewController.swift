import MSAL

/// Sign-up with the attributes at the start.
@MainActor
final class SignUpViewController: ViewController {
    var newState: SignUpCodeRequiredState?

    func signUpPressed(_: Any) {
        guard let email = emailTextField.text else {
            resultTextView.text = "Email or password not set"
            return
        }

        nativeAuth.signUp(username: email, delegate: self)
    }

    func signUpWithPasswordPressed(_: Any) {
        guard let email = emailTextField.text, let password = passwordTextField.text else {
            resultTextView.text = "Email or password not set"
            return
        }

        nativeAuth.signUp(username: email, password: password, delegate: self)
    }

    func signUpWithAttributesPressed(_: Any) {
        guard let email = emailTextField.text, let password = passwordTextField.text else { return }

        let attributes = [
            "country": "United States",
            "city": "Redmond",
        ]

        nativeAuth.signUp(username: email, password: password, attributes: attributes, delegate: self)
    }
}

extension SignUpViewController: SignUpStartDelegate {
    func onSignUpStartError(error: MSAL.SignUpStartError) {
        if error.isUserAlreadyExists {
            resultTextView.text = "Unable to sign up: User already exists"
        } else if error.isInvalidPassword {
            resultTextView.text = "Unable to sign up: The password is invalid"
        } else if error.isInvalidUsername {
            resultTextView.text = "Unable to sign up: The username is invalid"
        } else {
            resultTextView.text = "Unexpected error signing up: \(error.errorDescription ?? "no description")"
        }
    }

    func onSignUpCodeRequired(
        newState: MSAL.SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSAL.MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        self.newState = newState
        resultTextView.text = "Verification code sent to \(sentTo)"
    }

    func onSignUpAttributesInvalid(attributeNames: [String]) {
        resultTextView.text = "Invalid attributes  \(attributeNames)"
    }
}

extension SignUpViewController: SignUpVerifyCodeDelegate {
    func onSignUpVerifyCodeError(error: MSAL.VerifyCodeError, newState: MSAL.SignUpCodeRequiredState?) {
        self.newState = newState
        resultTextView.text = "Error verifying code: \(error.errorDescription ?? "no description")"
    }

    func onSignUpCompleted(newState: SignInAfterSignUpState) {
        resultTextView.text = "Signed up successfully!"
        newState.signIn(delegate: self)
    }
}

extension SignUpViewController: SignInAfterSignUpDelegate {
    func onSignInAfterSignUpError(error: SignInAfterSignUpError) {
        resultTextView.text = "Error signing in: \(error.errorDescription ?? "no description")"
    }

    func onSignInCompleted(result: MSALNativeAuthUserAccountResult) {
        accountResult = result
        resultTextView.text = "Signed in successfully"
    }
}
