public import OAuth

/// The person who signs up has to choose a password.
public struct SignUpPasswordRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// Submits the password.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitPassword(
        _ password: Secret
    ) async throws(StepError<PasswordRequiredErrorKind, SignUpPasswordRequiredState>) -> SignUpPasswordResult {
        guard password.count > 0 else { throw StepError(flow.emptyPassword(.invalidPassword), self) }
        do throws(NativeFailure) {
            switch try await flow.continueSignUp("password", token, credential: ("password", password)) {
            case .completed(let state): return .completed(state)
            case .attributesRequired(let state): return .attributesRequired(state)
            case .credentialRequired:
                throw flow.unexpected("asks for the password again", at: .signUpContinue).ending()
            }
        } catch {
            let reason = PasswordRequiredError(error, in: flow) {
                $0.refusal?.isInvalidPassword == true ? .invalidPassword : nil
            }
            throw StepError(reason, reason.isInvalidPassword || error.keepsState ? self : nil)
        }
    }
}
