import OAuth

extension SignUpCodeRequiredState {
    public func submitCode(code: String, delegate: any SignUpVerifyCodeDelegate) {
        Task {
            do throws(StepError<VerifyCodeErrorKind, SignUpCodeRequiredState>) {
                switch try await submitCode(Secret(code)) {
                case .passwordRequired(let state): await delegate.onSignUpPasswordRequired(newState: state)
                case .attributesRequired(let state):
                    await delegate.hear(state) { delegate.onSignUpVerifyCodeError(error: .unheard($0), newState: nil) }
                case .completed(let state):
                    await delegate.hear(state) { delegate.onSignUpVerifyCodeError(error: .unheard($0), newState: nil) }
                }
            } catch {
                await delegate.onSignUpVerifyCodeError(error: error.error, newState: error.state)
            }
        }
    }

    public func resendCode(delegate: any SignUpResendCodeDelegate) {
        Task {
            do throws(StepError<ResendCodeErrorKind, SignUpCodeRequiredState>) {
                let state = try await resendCode()
                await delegate.onSignUpResendCodeCodeRequired(
                    newState: state,
                    sentTo: state.delivery.sentTo,
                    channelTargetType: state.delivery.channelTargetType,
                    codeLength: state.delivery.codeLength
                )
            } catch {
                await delegate.onSignUpResendCodeError(error: error.error, newState: error.state)
            }
        }
    }
}
