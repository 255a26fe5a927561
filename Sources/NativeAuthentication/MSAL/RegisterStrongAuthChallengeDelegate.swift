/// Hears how a contact is registered; a callback that is left out comes back as an error.
@MainActor
public protocol RegisterStrongAuthChallengeDelegate: SignInCompletedDelegate {
    func onRegisterStrongAuthChallengeError(error: RegisterStrongAuthChallengeError, newState: RegisterStrongAuthState?)
    func onRegisterStrongAuthVerificationRequired(result: MSALNativeAuthRegisterStrongAuthVerificationRequiredResult)
}

extension RegisterStrongAuthChallengeDelegate {
    public func onRegisterStrongAuthVerificationRequired(
        result: MSALNativeAuthRegisterStrongAuthVerificationRequiredResult
    ) {
        onRegisterStrongAuthChallengeError(
            error: .unheard("onRegisterStrongAuthVerificationRequired(result:)"),
            newState: nil
        )
    }
}
