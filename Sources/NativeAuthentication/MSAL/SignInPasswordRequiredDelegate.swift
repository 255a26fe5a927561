/// Hears what became of the password of a sign-in; a callback that is left out comes back as an error.
@MainActor
public protocol SignInPasswordRequiredDelegate: SignInOutcomeDelegate {
    func onSignInPasswordRequiredError(error: PasswordRequiredError, newState: SignInPasswordRequiredState?)
}
