public import OAuth

/// A code was sent to the person who signs up.
public struct SignUpCodeRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret
    public let delivery: CodeDelivery

    /// Submits the code that the person received.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitCode(
        _ code: Secret
    ) async throws(StepError<VerifyCodeErrorKind, SignUpCodeRequiredState>) -> SignUpVerifyCodeResult {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidCode), self) }
        do throws(NativeFailure) {
            return try await verify(code)
        } catch {
            let reason = VerifyCodeError(error, in: flow) { failure in
                let refusal = failure.refusal(at: .signUpContinue)
                return refusal?.isInvalidCode == true || refusal?.isInvalidPassword == true ? .invalidCode : nil
            }
            throw StepError(reason, reason.isInvalidCode || error.keepsState ? self : nil)
        }
    }

    private func verify(_ code: Secret) async throws(NativeFailure) -> SignUpVerifyCodeResult {
        switch try await flow.continueSignUp("oob", token, credential: ("oob", code)) {
        case .completed(let state): return .completed(state)
        case .attributesRequired(let state): return .attributesRequired(state)
        case .credentialRequired(let next):
            do throws(NativeFailure) {
                guard case .password(let token) = try await flow.challenge(.signUpChallenge, next) else {
                    throw flow.unexpected("asks for a code where a password is due", at: .signUpChallenge)
                }
                return .passwordRequired(SignUpPasswordRequiredState(flow: flow, token: token))
            } catch {
                throw error.ending()
            }
        }
    }

    /// Has another code sent; those before it are good no more.
    ///
    /// - Throws: the error, with this state for another try.
    public func resendCode() async throws(StepError<ResendCodeErrorKind, SignUpCodeRequiredState>)
        -> SignUpCodeRequiredState
    {
        do throws(NativeFailure) {
            let (delivery, token) = try await flow.code(.signUpChallenge, token)
            return SignUpCodeRequiredState(flow: flow, token: token, delivery: delivery)
        } catch {
            throw StepError(ResendCodeError(error, in: flow), error.endsFlow ? nil : self)
        }
    }
}
