import OAuth

extension RegisterStrongAuthVerificationRequiredState {
    public func challengeAuthMethod(
        parameters: MSALNativeAuthChallengeAuthMethodParameters,
        delegate: any RegisterStrongAuthChallengeDelegate
    ) {
        let (method, contact) = (parameters.authMethod, parameters.verificationContact)
        Task {
            do throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthVerificationRequiredState>) {
                switch try await challengeAuthMethod(method, contact: contact) {
                case .verificationRequired(let state):
                    await delegate.onRegisterStrongAuthVerificationRequired(result: .init(newState: state))
                case .completed(let account):
                    await delegate.hear(account) {
                        delegate.onRegisterStrongAuthChallengeError(error: .unheard($0), newState: nil)
                    }
                }
            } catch {
                await delegate.onRegisterStrongAuthChallengeError(error: error.error, newState: error.state?.choice)
            }
        }
    }

    public func submitChallenge(challenge: String, delegate: any RegisterStrongAuthSubmitChallengeDelegate) {
        Task {
            do throws(StepError<
                RegisterStrongAuthSubmitChallengeErrorKind, RegisterStrongAuthVerificationRequiredState
            >) {
                let account = try await submitChallenge(Secret(challenge))
                await delegate.hear(account) {
                    delegate.onRegisterStrongAuthSubmitChallengeError(error: .unheard($0), newState: nil)
                }
            } catch {
                await delegate.onRegisterStrongAuthSubmitChallengeError(error: error.error, newState: error.state)
            }
        }
    }

    /// The state that contacts are given to.
    fileprivate var choice: RegisterStrongAuthState {
        RegisterStrongAuthState(flow: flow, token: registrationToken, authMethods: authMethods)
    }
}
