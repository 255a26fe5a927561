/// Hears what a step of a sign-up comes to.
@MainActor
public protocol SignUpOutcomeDelegate: AnyObject, Sendable {
    func onSignUpAttributesRequired(
        attributes: [MSALNativeAuthRequiredAttribute],
        newState: SignUpAttributesRequiredState
    )

    /// The same without the list, as the documents show it; the state has the list.
    func onSignUpAttributesRequired(newState: SignUpAttributesRequiredState)
    func onSignUpCompleted(newState: SignInAfterSignUpState)
}

extension SignUpOutcomeDelegate {
    public func onSignUpAttributesRequired(
        attributes: [MSALNativeAuthRequiredAttribute],
        newState: SignUpAttributesRequiredState
    ) {
        onSignUpAttributesRequired(newState: newState)
    }

    public func onSignUpAttributesRequired(newState: SignUpAttributesRequiredState) {
        UnheardCallback.tell("onSignUpAttributesRequired(attributes:newState:)")
    }

    public func onSignUpCompleted(newState: SignInAfterSignUpState) {
        UnheardCallback.tell("onSignUpCompleted(newState:)")
    }

    func hear(_ state: SignUpAttributesRequiredState, else report: @escaping UnheardCallback.Report) {
        UnheardCallback.hear(else: report) {
            onSignUpAttributesRequired(attributes: state.attributes, newState: state)
        }
    }

    func hear(_ state: SignInAfterSignUpState, else report: @escaping UnheardCallback.Report) {
        UnheardCallback.hear(else: report) { onSignUpCompleted(newState: state) }
    }
}
