import OAuth

extension SignUpPasswordRequiredState {
    public func submitPassword(password: String, delegate: any SignUpPasswordRequiredDelegate) {
        Task {
            do throws(StepError<PasswordRequiredErrorKind, SignUpPasswordRequiredState>) {
                switch try await submitPassword(Secret(password)) {
                case .attributesRequired(let state):
                    await delegate.hear(state) {
                        delegate.onSignUpPasswordRequiredError(error: .unheard($0), newState: nil)
                    }
                case .completed(let state):
                    await delegate.hear(state) {
                        delegate.onSignUpPasswordRequiredError(error: .unheard($0), newState: nil)
                    }
                }
            } catch {
                await delegate.onSignUpPasswordRequiredError(error: error.error, newState: error.state)
            }
        }
    }
}
