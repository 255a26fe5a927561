/// Hears what became of the code of a sign-in; a callback that is left out comes back as an error.
@MainActor
public protocol SignInVerifyCodeDelegate: SignInOutcomeDelegate {
    func onSignInVerifyCodeError(error: VerifyCodeError, newState: SignInCodeRequiredState?)
}
