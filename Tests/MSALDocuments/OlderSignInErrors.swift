// The code of a guide to MSAL, letter by letter; what the guide leaves to the app is marked as the app's own.
// swift-format-ignore-file

import Foundation
import MSAL

/// Errors told apart, and the claims read.
@MainActor
public func olderSignInErrors(_ app: MSALNativeAuthPublicClientApplication) -> Screen { ViewController(app) }

private final class ViewController: Screen {
    override func press(_ button: String) {
        guard let email = emailTextField.text else { return }
        nativeAuth.signIn(username: email, delegate: self)
    }
}

extension ViewController: SignInStartDelegate {
    func onSignInStartError(error: MSAL.SignInStartError) {
        if error.isUserNotFound || error.isInvalidUsername {
            resultTextView.text = "Invalid username"
        } else {
            resultTextView.text = "Error signing in: \(error.errorDescription ?? "no description")"
        }
    }

    func onSignInCodeRequired(
        newState: MSAL.SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSAL.MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        newState.submitCode(code: userSuppliedCode, delegate: self)
    }

    func onSignInCompleted(result: MSAL.MSALNativeAuthUserAccountResult) {
       let claims = result.account.accountClaims
       let preferredUsername = claims?["preferred_username"] as? String
            resultTextView.text = preferredUsername  // own
    }
}

extension ViewController: SignInVerifyCodeDelegate {
    func onSignInVerifyCodeError(error: MSAL.VerifyCodeError, newState: MSAL.SignInCodeRequiredState?) {
        if error.isInvalidCode {
            // Inform the user that the submitted code was incorrect and ask for a new code to be supplied
            let userSuppliedCode = retrieveNewCode()
            newState?.submitCode(code: userSuppliedCode, delegate: self)
        } else {
            resultTextView.text = "Error verifying code: \(error.errorDescription ?? "no description")"
        }
    }
}
