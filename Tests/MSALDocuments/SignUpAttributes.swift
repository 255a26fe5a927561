// The code of a guide to MSAL, letter by letter; what the guide leaves to the app is marked as the app's own.
// swift-format-ignore-file

import Foundation
import MSAL

/// Attributes at the start of a sign-up.
@MainActor
public func signUpAttributes(_ app: MSALNativeAuthPublicClientApplication) -> Screen { ViewController(app) }

private final class ViewController: Screen {
    override func press(_ button: String) {
        guard let email = emailTextField.text else { return }
        guard button == "signUp" else {
            return nativeAuth.signUp(username: email, attributes: ["country": button], delegate: self)
        }
        let attributes = [
            "country": "United States",
            "city": "Redmond"
        ]

        nativeAuth.signUp(username: email, attributes: attributes, delegate: self)
    }
}

extension ViewController: SignUpStartDelegate {
    func onSignUpStartError(error: MSAL.SignUpStartError) {
        resultTextView.text = "Error signing up: \(error.errorDescription ?? "no description")"
    }

    func onSignUpCodeRequired(
        newState: MSAL.SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSAL.MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        resultTextView.text = "Verification code sent to \(sentTo)"
    }

    func onSignUpAttributesInvalid(attributeNames: [String]) {
       resultTextView.text = "Invalid attributes  \(attributeNames)"
    }
}
