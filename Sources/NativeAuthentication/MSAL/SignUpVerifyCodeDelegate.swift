/// Hears what became of the code of a sign-up; a callback that is left out comes back as an error.
@MainActor
public protocol SignUpVerifyCodeDelegate: SignUpOutcomeDelegate {
    func onSignUpVerifyCodeError(error: VerifyCodeError, newState: SignUpCodeRequiredState?)
    func onSignUpPasswordRequired(newState: SignUpPasswordRequiredState)
}

extension SignUpVerifyCodeDelegate {
    public func onSignUpPasswordRequired(newState: SignUpPasswordRequiredState) {
        onSignUpVerifyCodeError(error: .unheard("onSignUpPasswordRequired(newState:)"), newState: nil)
    }
}
