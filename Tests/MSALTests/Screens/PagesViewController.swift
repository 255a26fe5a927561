import MSAL

/// Sign-up with the attributes over several pages.
@MainActor
final class PagesViewController: ViewController {
    var codeState: SignUpCodeRequiredState?
    var attributesState: SignUpAttributesRequiredState?
    var country = "United States"

    func signUpPressed(_: Any) {
        guard let email = emailTextField.text else { return }

        nativeAuth.signUp(username: email, delegate: self)
    }

    func submitPressed(_: Any) {
        let attributes = [
            "country": country,
            "city": "Redmond",
        ]

        attributesState?.submitAttributes(attributes: attributes, delegate: self)
    }
}

extension PagesViewController: SignUpStartDelegate {
    func onSignUpStartError(error: MSAL.SignUpStartError) {
        resultTextView.text = "Error signing up: \(error.errorDescription ?? "no description")"
    }

    func onSignUpCodeRequired(
        newState: MSAL.SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSAL.MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        codeState = newState
        resultTextView.text = "Verification code sent to \(sentTo)"
    }
}

extension PagesViewController: SignUpVerifyCodeDelegate {
    func onSignUpPasswordRequired(newState: SignUpPasswordRequiredState) {
        newState.submitPassword(password: passwordTextField.text ?? "", delegate: self)
    }

    func onSignUpAttributesRequired(newState: SignUpAttributesRequiredState) {
        attributesState = newState
        resultTextView.text = "Attributes required"
    }

    func onSignUpVerifyCodeError(error: MSAL.VerifyCodeError, newState: MSAL.SignUpCodeRequiredState?) {
        resultTextView.text = "Error verifying code: \(error.errorDescription ?? "no description")"
    }

    func onSignUpCompleted(newState: SignInAfterSignUpState) {
        resultTextView.text = "Signed up successfully!"
    }
}

extension PagesViewController: SignUpPasswordRequiredDelegate {
    func onSignUpPasswordRequiredError(error: PasswordRequiredError, newState: SignUpPasswordRequiredState?) {
        resultTextView.text = "Error submitting the password: \(error.errorDescription ?? "no description")"
    }
}

extension PagesViewController: SignUpAttributesRequiredDelegate {
    func onSignUpAttributesRequiredError(error: AttributesRequiredError) {
        resultTextView.text = "Error submitting attributes: \(error.errorDescription ?? "no description")"
    }

    func onSignUpAttributesRequired(
        attributes: [MSALNativeAuthRequiredAttribute],
        newState: SignUpAttributesRequiredState
    ) {
        attributesState = newState
        resultTextView.text = "Attributes required"
    }

    func onSignUpAttributesInvalid(attributeNames: [String], newState: SignUpAttributesRequiredState) {
        attributesState = newState
        resultTextView.text = "Attributes invalid"
    }
}
