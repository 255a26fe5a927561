/// Hears what became of the code of a contact; a callback that is left out comes back as an error.
@MainActor
public protocol RegisterStrongAuthSubmitChallengeDelegate: SignInCompletedDelegate {
    func onRegisterStrongAuthSubmitChallengeError(
        error: RegisterStrongAuthSubmitChallengeError,
        newState: RegisterStrongAuthVerificationRequiredState?
    )
}
