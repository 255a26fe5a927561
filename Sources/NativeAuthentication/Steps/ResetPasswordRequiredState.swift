public import OAuth
import OpenIDConnect

/// The person whose password is to be reset has to choose a new one.
public struct ResetPasswordRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// Submits the new password, and waits until it is in force.
    ///
    /// - Throws: the error, with a state for another try where there is one.
    public func submitPassword(
        _ password: Secret
    ) async throws(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>) -> SignInAfterResetPasswordState {
        guard password.count > 0 else { throw StepError(flow.emptyPassword(.invalidPassword), self) }
        let polling: ResetPolling
        do throws(NativeFailure) {
            var form = flow.form(token)
            form.append("new_password", password)
            polling = try ResetPolling(flow: flow, reply: try await flow.send(.resetSubmit, form))
        } catch {
            let reason = PasswordRequiredError(error, in: flow) {
                $0.refusal?.isInvalidPassword == true ? .invalidPassword : nil
            }
            throw StepError(reason, reason.isInvalidPassword || error.keepsState ? self : nil)
        }
        return try await polling.outcome()
    }
}
