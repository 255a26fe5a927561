/// Hears what became of the sign-in after a reset; a callback that is left out comes back as an error.
@MainActor
public protocol SignInAfterResetPasswordDelegate: SignInOutcomeDelegate {
    func onSignInAfterResetPasswordError(error: SignInAfterResetPasswordError)
}
