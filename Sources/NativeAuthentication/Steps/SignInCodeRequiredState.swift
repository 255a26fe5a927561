public import OAuth

/// A code was sent to the person who signs in.
public struct SignInCodeRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret
    public let delivery: CodeDelivery

    /// Submits the code that the person received.
    ///
    /// - Throws: the error, with this state for another try.
    public func submitCode(
        _ code: Secret
    ) async throws(StepError<VerifyCodeErrorKind, SignInCodeRequiredState>) -> SignInResult {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidCode), self) }
        do {
            return try await flow.signIn(.code(code), token)
        } catch {
            let reason = VerifyCodeError(error, in: flow) { $0.refusal?.isInvalidCode == true ? .invalidCode : nil }
            throw StepError(reason, error.endsFlow ? nil : self)
        }
    }

    /// Has another code sent; those before it are good no more.
    ///
    /// - Throws: the error, with this state for another try.
    public func resendCode() async throws(StepError<ResendCodeErrorKind, SignInCodeRequiredState>)
        -> SignInCodeRequiredState
    {
        do {
            let (delivery, token) = try await flow.code(.challenge, token)
            return SignInCodeRequiredState(flow: flow, token: token, delivery: delivery)
        } catch {
            throw StepError(ResendCodeError(error, in: flow), error.endsFlow ? nil : self)
        }
    }
}
