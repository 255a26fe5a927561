public import OAuth

/// The person who signs in has a password.
public struct SignInPasswordRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// Submits the password.
    ///
    /// - Throws: the error, with this state for another try.
    public func submitPassword(
        _ password: Secret
    ) async throws(StepError<PasswordRequiredErrorKind, SignInPasswordRequiredState>) -> SignInResult {
        guard password.count > 0 else { throw StepError(flow.emptyPassword(.invalidPassword), self) }
        do {
            return try await flow.signIn(.password(password), token)
        } catch {
            let reason = PasswordRequiredError(error, in: flow) {
                $0.refusal?.isWrongPassword == true ? .invalidPassword : nil
            }
            throw StepError(reason, error.endsFlow ? nil : self)
        }
    }
}
