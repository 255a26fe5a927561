import OAuth

extension SignInPasswordRequiredState {
    public func submitPassword(password: String, delegate: any SignInPasswordRequiredDelegate) {
        Task {
            do throws(StepError<PasswordRequiredErrorKind, SignInPasswordRequiredState>) {
                let result = try await submitPassword(Secret(password))
                await delegate.hear(result) {
                    delegate.onSignInPasswordRequiredError(error: .unheard($0), newState: nil)
                }
            } catch {
                await delegate.onSignInPasswordRequiredError(error: error.error, newState: error.state)
            }
        }
    }
}
