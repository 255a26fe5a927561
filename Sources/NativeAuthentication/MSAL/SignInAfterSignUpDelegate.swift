/// Hears what became of the sign-in after a sign-up; a callback that is left out comes back as an error.
@MainActor
public protocol SignInAfterSignUpDelegate: SignInOutcomeDelegate {
    func onSignInAfterSignUpError(error: SignInAfterSignUpError)
}
