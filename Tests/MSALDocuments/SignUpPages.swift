// The code of a guide to MSAL, letter by letter; what the guide leaves to the app is marked as the app's own.
// swift-format-ignore-file

import Foundation
import MSAL

/// A sign-up whose attributes are asked for later: the pages until then.
@MainActor
public func signUpPages(
    _ app: MSALNativeAuthPublicClientApplication,
    next: @escaping @MainActor (SignUpAttributesRequiredState) -> Void
) -> Screen {
    let screen = ViewController(app)
    screen.next = next
    return screen
}

private final class ViewController: Screen {
    var next: (@MainActor (SignUpAttributesRequiredState) -> Void)?

    override func press(_ button: String) {
        guard let email = emailTextField.text, let password = passwordTextField.text else { return }
        nativeAuth.signUp(username: email, password: password, delegate: self)
    }
}

extension ViewController: SignUpStartDelegate {
    func onSignUpStartError(error: MSAL.SignUpStartError) { resultTextView.text = error.errorDescription }

    func onSignUpCodeRequired(
        newState: MSAL.SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSAL.MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        newState.submitCode(code: retrieveNewCode(), delegate: self)
    }
}

extension ViewController: SignUpVerifyCodeDelegate {
    func onSignUpAttributesRequired(newState: SignUpAttributesRequiredState) {
        resultTextView.text = "Attributes required"
            next?(newState)  // own
    }

    func onSignUpVerifyCodeError(error: MSAL.VerifyCodeError, newState: MSAL.SignUpCodeRequiredState?) {
        resultTextView.text = "Error verifying code: \(error.errorDescription ?? "no description")"
    }

    func onSignUpCompleted(newState: SignInAfterSignUpState) {
        resultTextView.text = "Signed up successfully!"
    }
}
