public import OAuth
import OpenIDConnect

/// A code was sent to the person whose password is to be reset.
public struct ResetPasswordCodeRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret
    public let delivery: CodeDelivery

    /// Submits the code that the person received.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitCode(
        _ code: Secret
    ) async throws(StepError<VerifyCodeErrorKind, ResetPasswordCodeRequiredState>) -> ResetPasswordRequiredState {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidCode), self) }
        do throws(NativeFailure) {
            var form = flow.form(token)
            form.append("grant_type", "oob")
            form.append("oob", code)
            let next = try await flow.send(.resetContinue, form).continuationToken()
            return ResetPasswordRequiredState(flow: flow, token: next)
        } catch {
            let reason = VerifyCodeError(error, in: flow) { $0.refusal?.isInvalidCode == true ? .invalidCode : nil }
            throw StepError(reason, reason.isInvalidCode || error.keepsState ? self : nil)
        }
    }

    /// Has another code sent; those before it are good no more.
    ///
    /// - Throws: the error, with this state for another try.
    public func resendCode() async throws(StepError<ResendCodeErrorKind, ResetPasswordCodeRequiredState>)
        -> ResetPasswordCodeRequiredState
    {
        do throws(NativeFailure) {
            let (delivery, token) = try await flow.code(.resetChallenge, token)
            return ResetPasswordCodeRequiredState(flow: flow, token: token, delivery: delivery)
        } catch {
            throw StepError(ResendCodeError(error, in: flow), error.endsFlow ? nil : self)
        }
    }
}
