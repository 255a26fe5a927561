// The code of a guide to MSAL, letter by letter; what the guide leaves to the app is marked as the app's own.
// swift-format-ignore-file

import Foundation
import MSAL

/// Sign-up by password, with the errors told apart.
@MainActor
public func signUpErrors(_ app: MSALNativeAuthPublicClientApplication) -> Screen { ViewController(app) }

private final class ViewController: Screen {
    @IBAction func signUpPressed(_: Any) {
        guard let email = emailTextField.text, let password = passwordTextField.text else {
            resultTextView.text = "Email or password not set"
            return
        }

        nativeAuth.signUp(username: email,password: password,delegate: self)
    }

    func signUpAgain() {
        guard let email = emailTextField.text, let password = passwordTextField.text else { return }
        nativeAuth.signUp(username: email, password: password, delegate: self)
    }

    override func press(_ button: String) { button == "again" ? signUpAgain() : signUpPressed(button) }
}

extension ViewController: SignUpStartDelegate {
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
}
