// The code of a guide to MSAL, letter by letter; what the guide leaves to the app is marked as the app's own.
// swift-format-ignore-file

import Foundation
import MSAL

/// A page of a sign-up that asks for attributes.
@MainActor
public func signUpPage(
    _ app: MSALNativeAuthPublicClientApplication,
    _ state: SignUpAttributesRequiredState
) -> Screen {
    let screen = ViewController(app)
    screen.newState = state
    return screen
}

private final class ViewController: Screen {
    var newState: SignUpAttributesRequiredState?

    override func press(_ button: String) {
        guard let newState = newState else { return }
        guard button == "submit" else {
            return newState.submitAttributes(attributes: ["country": button], delegate: self)
        }
        let attributes = [
            "country": "United States",
            "city": "Redmond"
        ]

        newState.submitAttributes(attributes: attributes, delegate: self)
    }
}

extension ViewController: SignUpAttributesRequiredDelegate {
    func onSignUpAttributesRequiredError(error: AttributesRequiredError) {
        resultTextView.text = "Error submitting attributes: \(error.errorDescription ?? "no description")"
    }

    func onSignUpAttributesRequired(attributes: [MSALNativeAuthRequiredAttribute], newState: SignUpAttributesRequiredState) {
        resultTextView.text = "Attributes required"
        self.newState = newState  // own
    }

    func onSignUpAttributesInvalid(attributeNames: [String], newState: SignUpAttributesRequiredState) {
        resultTextView.text = "Attributes invalid"
        self.newState = newState  // own
    }

    func onSignUpCompleted(newState: SignInAfterSignUpState) {
        resultTextView.text = "Signed up successfully!"
    }
}
