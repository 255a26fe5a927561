public import OAuth

/// A code was sent to the contact that is to be registered.
public struct RegisterStrongAuthVerificationRequiredState: Sendable {
    let flow: NativeFlow

    /// What contacts are challenged with, however often.
    let registrationToken: Secret

    /// What the code is submitted with.
    let token: Secret

    /// What may be registered.
    public let authMethods: [AuthMethod]
    public let delivery: CodeDelivery

    /// Has a code sent to another contact, or another code to the same.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func challengeAuthMethod(
        _ method: AuthMethod,
        contact: String
    ) async throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthVerificationRequiredState>)
        -> RegisterStrongAuthChallengeResult
    {
        do {
            return try await flow.register(contact, as: method, registrationToken, authMethods)
        } catch {
            let isOver = error.failure.map { $0.endsFlow || $0.isRedirect } ?? false
            throw StepError(error.reason, isOver ? nil : self)
        }
    }

    /// Submits the code that came to the contact, and signs in.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitChallenge(
        _ code: Secret
    ) async throws(StepError<RegisterStrongAuthSubmitChallengeErrorKind, RegisterStrongAuthVerificationRequiredState>)
        -> NativeAuthUserAccount
    {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidChallenge), self) }
        do {
            return try await flow.finishRegistration("oob", token, code: code)
        } catch {
            let reason = RegisterStrongAuthSubmitChallengeError(error, in: flow) {
                $0.refusal(at: .registerContinue)?.isInvalidCode == true ? .invalidChallenge : nil
            }
            throw StepError(reason, error.endsFlow || error.isRedirect ? nil : self)
        }
    }
}
