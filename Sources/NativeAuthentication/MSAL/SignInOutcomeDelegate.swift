/// Hears what the first factor of a sign-in comes to.
@MainActor
public protocol SignInOutcomeDelegate: SignInCompletedDelegate {
    func onSignInAwaitingMFA(authMethods: [MSALAuthMethod], newState: AwaitingMFAState)
    func onSignInStrongAuthMethodRegistration(authMethods: [MSALAuthMethod], newState: RegisterStrongAuthState)
}

extension SignInOutcomeDelegate {
    public func onSignInAwaitingMFA(authMethods: [MSALAuthMethod], newState: AwaitingMFAState) {
        UnheardCallback.tell("onSignInAwaitingMFA(authMethods:newState:)")
    }

    public func onSignInStrongAuthMethodRegistration(
        authMethods: [MSALAuthMethod],
        newState: RegisterStrongAuthState
    ) {
        UnheardCallback.tell("onSignInStrongAuthMethodRegistration(authMethods:newState:)")
    }

    func hear(_ result: SignInResult, else report: @escaping UnheardCallback.Report) {
        UnheardCallback.hear(else: report) {
            switch result {
            case .awaitingMFA(let state): onSignInAwaitingMFA(authMethods: state.authMethods, newState: state)
            case .strongAuthMethodRegistration(let state):
                onSignInStrongAuthMethodRegistration(authMethods: state.authMethods, newState: state)
            case .completed(let account): onSignInCompleted(result: MSALNativeAuthUserAccountResult(account))
            }
        }
    }
}
