extension RegisterStrongAuthState {
    public func challengeAuthMethod(
        parameters: MSALNativeAuthChallengeAuthMethodParameters,
        delegate: any RegisterStrongAuthChallengeDelegate
    ) {
        let (method, contact) = (parameters.authMethod, parameters.verificationContact)
        Task {
            do throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthState>) {
                switch try await challengeAuthMethod(method, contact: contact) {
                case .verificationRequired(let state):
                    await delegate.onRegisterStrongAuthVerificationRequired(result: .init(newState: state))
                case .completed(let account):
                    await delegate.hear(account) {
                        delegate.onRegisterStrongAuthChallengeError(error: .unheard($0), newState: nil)
                    }
                }
            } catch {
                await delegate.onRegisterStrongAuthChallengeError(error: error.error, newState: error.state)
            }
        }
    }
}
