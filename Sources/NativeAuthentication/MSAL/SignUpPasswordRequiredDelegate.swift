/// Hears what became of the password of a sign-up; a callback that is left out comes back as an error.
@MainActor
public protocol SignUpPasswordRequiredDelegate: SignUpOutcomeDelegate {
    func onSignUpPasswordRequiredError(error: PasswordRequiredError, newState: SignUpPasswordRequiredState?)
}
