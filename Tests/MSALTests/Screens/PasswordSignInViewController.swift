import MSAL

/// Sign-in by password, in both spellings of the call.
@MainActor
final class PasswordSignInViewController: ViewController {
    func signInPressed(_: Any) {
        guard let email = emailTextField.text, let password = passwordTextField.text else {
            resultTextView.text = "Email or password not set"
            return
        }

        nativeAuth.signIn(username: email, password: password, delegate: self)
    }

    func signInWithParametersPressed(_: Any) {
        guard let email = emailTextField.text, let password = passwordTextField.text else { return }

        let parameters = MSALNativeAuthSignInParameters(username: email)
        parameters.password = password
        nativeAuth.signIn(parameters: parameters, delegate: self)
    }
}

extension PasswordSignInViewController: SignInStartDelegate {
    func onSignInStartError(error: MSAL.SignInStartError) {
        resultTextView.text = "Error signing in: \(error.errorDescription ?? "no description")"
    }

    func onSignInCompleted(result: MSAL.MSALNativeAuthUserAccountResult) {
        // User successfully signed in
        accountResult = result
        result.getAccessToken(delegate: self)
    }
}

extension PasswordSignInViewController: CredentialsDelegate {
    func onAccessTokenRetrieveError(error: MSAL.RetrieveAccessTokenError) {
        resultTextView.text = "Error retrieving access token"
    }

    func onAccessTokenRetrieveCompleted(result: MSALNativeAuthTokenResult) {
        resultTextView.text = "Signed in. Access Token: \(result.accessToken)"
    }
}
