import OAuth

/// The person has no method for a second factor yet, and is to register one.
public struct RegisterStrongAuthState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// What may be registered.
    public let authMethods: [AuthMethod]

    /// Has a code sent to a contact that is to become the person's method.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func challengeAuthMethod(
        _ method: AuthMethod,
        contact: String
    ) async throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthState>)
        -> RegisterStrongAuthChallengeResult
    {
        do {
            return try await flow.register(contact, as: method, token, authMethods)
        } catch {
            let isOver = error.failure.map { $0.endsFlow || $0.isRedirect } ?? false
            throw StepError(error.reason, isOver ? nil : self)
        }
    }
}
