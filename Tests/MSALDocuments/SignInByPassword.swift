// The code of a guide to MSAL, letter by letter; what the guide leaves to the app is marked as the app's own.
// swift-format-ignore-file

import Foundation
import MSAL

/// Sign-in by password.
@MainActor
public func signInByPassword(_ app: MSALNativeAuthPublicClientApplication) -> Screen { ViewController(app) }

private final class ViewController: Screen {
    override func press(_ button: String) {
        guard let email = emailTextField.text, let password = passwordTextField.text else { return }
        let parameters = MSALNativeAuthSignInParameters(username: email)
        parameters.password = password
        nativeAuth.signIn(parameters: parameters, delegate: self)
    }
}

extension ViewController: SignInStartDelegate {
    func onSignInStartError(error: MSAL.SignInStartError) {
        resultTextView.text = "Error signing in: \(error.errorDescription ?? "no description")"
    }

    func onSignInCompleted(result: MSAL.MSALNativeAuthUserAccountResult) {
        // User successfully signed in
            result.getAccessToken(delegate: self)  // own
    }
}

extension ViewController: CredentialsDelegate {
    func onAccessTokenRetrieveError(error: MSAL.RetrieveAccessTokenError) {
        resultTextView.text = "Error retrieving access token"
    }

    func onAccessTokenRetrieveCompleted(result: MSALNativeAuthTokenResult) {
        resultTextView.text = "Signed in. Access Token: \(result.accessToken)"
    }
}
