/// Hears what became of the attributes of a sign-up; a callback that is left out comes back as an error.
@MainActor
public protocol SignUpAttributesRequiredDelegate: SignUpOutcomeDelegate {
    func onSignUpAttributesRequiredError(error: AttributesRequiredError)
    func onSignUpAttributesInvalid(attributeNames: [String], newState: SignUpAttributesRequiredState)
}

extension SignUpAttributesRequiredDelegate {
    public func onSignUpAttributesInvalid(attributeNames: [String], newState: SignUpAttributesRequiredState) {
        onSignUpAttributesRequiredError(error: .unheard("onSignUpAttributesInvalid(attributeNames:newState:)"))
    }
}
