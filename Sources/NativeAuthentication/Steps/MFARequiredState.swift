public import OAuth

/// A code for the second factor was sent.
public struct MFARequiredState: Sendable {
    let flow: NativeFlow

    /// What methods are chosen with, however often.
    let methodsToken: Secret

    /// What the code is submitted with.
    let token: Secret

    /// The person's methods.
    public let authMethods: [AuthMethod]
    public let delivery: CodeDelivery

    /// Has a code sent, by the same method or another; those before it are good no more.
    ///
    /// - Throws: the error, with this state for another try.
    public func requestChallenge(
        _ method: AuthMethod
    ) async throws(StepError<MFARequestChallengeErrorKind, MFARequiredState>) -> MFARequiredState {
        do {
            return try await flow.secondFactor(method, methodsToken, authMethods)
        } catch {
            throw StepError(flow.challengeError(error), error.endsFlow ? nil : self)
        }
    }

    /// Submits the code that the person received.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitChallenge(
        _ code: Secret
    ) async throws(StepError<MFASubmitChallengeErrorKind, MFARequiredState>) -> NativeAuthUserAccount {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidChallenge), self) }
        do {
            return try await flow.tokens(.secondFactor(code), token)
        } catch {
            let reason = MFASubmitChallengeError(error, in: flow) {
                $0.refusal?.isInvalidCode == true ? .invalidChallenge : nil
            }
            // Asked for yet another factor, the issuer has moved on to where no state leads.
            let isAskedAgain = error.continuationToken != nil
            throw StepError(reason, error.endsFlow || isAskedAgain ? nil : self)
        }
    }
}
