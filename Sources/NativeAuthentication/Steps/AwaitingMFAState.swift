import OAuth

/// A second factor is due; the person chooses by which method the code comes.
public struct AwaitingMFAState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// The person's methods.
    public let authMethods: [AuthMethod]

    /// Has a code sent by one of the methods.
    ///
    /// - Throws: the error, with this state to choose another method from.
    public func requestChallenge(
        _ method: AuthMethod
    ) async throws(StepError<MFARequestChallengeErrorKind, AwaitingMFAState>) -> MFARequiredState {
        do {
            return try await flow.secondFactor(method, token, authMethods)
        } catch {
            throw StepError(flow.challengeError(error), error.endsFlow ? nil : self)
        }
    }
}
