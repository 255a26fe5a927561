import OAuth

extension SignInCodeRequiredState {
    public func submitCode(code: String, delegate: any SignInVerifyCodeDelegate) {
        Task {
            do throws(StepError<VerifyCodeErrorKind, SignInCodeRequiredState>) {
                let result = try await submitCode(Secret(code))
                await delegate.hear(result) { delegate.onSignInVerifyCodeError(error: .unheard($0), newState: nil) }
            } catch {
                await delegate.onSignInVerifyCodeError(error: error.error, newState: error.state)
            }
        }
    }

    public func resendCode(delegate: any SignInResendCodeDelegate) {
        Task {
            do throws(StepError<ResendCodeErrorKind, SignInCodeRequiredState>) {
                let state = try await resendCode()
                await delegate.onSignInResendCodeCodeRequired(
                    newState: state,
                    sentTo: state.delivery.sentTo,
                    channelTargetType: state.delivery.channelTargetType,
                    codeLength: state.delivery.codeLength
                )
            } catch {
                await delegate.onSignInResendCodeError(error: error.error, newState: error.state)
            }
        }
    }
}
