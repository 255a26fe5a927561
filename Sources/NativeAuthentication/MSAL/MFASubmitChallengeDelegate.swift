/// Hears what became of the code of a second factor; a callback that is left out comes back as an error.
@MainActor
public protocol MFASubmitChallengeDelegate: SignInCompletedDelegate {
    func onMFASubmitChallengeError(error: MFASubmitChallengeError, newState: MFARequiredState?)
}
