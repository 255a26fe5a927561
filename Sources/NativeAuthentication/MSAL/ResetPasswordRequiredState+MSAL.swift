import OAuth

extension ResetPasswordRequiredState {
    public func submitPassword(password: String, delegate: any ResetPasswordRequiredDelegate) {
        Task {
            do throws(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>) {
                await delegate.onResetPasswordCompleted(newState: try await submitPassword(Secret(password)))
            } catch {
                await delegate.onResetPasswordRequiredError(error: error.error, newState: error.state)
            }
        }
    }
}
