// The code of a guide to MSAL, letter by letter; what the guide leaves to the app is marked as the app's own.
// swift-format-ignore-file

import Foundation
import MSAL

/// The account found again, and signed out.
@MainActor
public func signInSignOut(_ app: MSALNativeAuthPublicClientApplication) -> Screen { ViewController(app) }

private final class ViewController: Screen {
    var accountResult: MSALNativeAuthUserAccountResult?

    override func viewDidLoad() {
        accountResult = nativeAuth.getNativeAuthUserAccount()
        resultTextView.text = accountResult?.account.username ?? "Not signed in"
    }

    @IBAction func signOutPressed(_: Any) {
        guard let accountResult = accountResult else {
            print("Not currently signed in")
            return
        }

        accountResult.signOut()

        self.accountResult = nil

        resultTextView.text = "Signed out"
    }

    override func press(_ button: String) {
        guard button == "signIn", let email = emailTextField.text, let password = passwordTextField.text else {
            return signOutPressed(button)
        }
        nativeAuth.signIn(username: email, password: password, delegate: self)
    }
}

extension ViewController: SignInStartDelegate {
    func onSignInStartError(error: MSAL.SignInStartError) { resultTextView.text = error.errorDescription }

    func onSignInCompleted(result: MSALNativeAuthUserAccountResult) {
        resultTextView.text = "Signed in successfully"

        accountResult = result
    }
}
