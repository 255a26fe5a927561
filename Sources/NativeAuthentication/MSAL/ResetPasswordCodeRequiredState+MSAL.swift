import OAuth

extension ResetPasswordCodeRequiredState {
    public func submitCode(code: String, delegate: any ResetPasswordVerifyCodeDelegate) {
        Task {
            do throws(StepError<VerifyCodeErrorKind, ResetPasswordCodeRequiredState>) {
                await delegate.onPasswordRequired(newState: try await submitCode(Secret(code)))
            } catch {
                await delegate.onResetPasswordVerifyCodeError(error: error.error, newState: error.state)
            }
        }
    }

    public func resendCode(delegate: any ResetPasswordResendCodeDelegate) {
        Task {
            do throws(StepError<ResendCodeErrorKind, ResetPasswordCodeRequiredState>) {
                let state = try await resendCode()
                await delegate.onResetPasswordResendCodeRequired(
                    newState: state,
                    sentTo: state.delivery.sentTo,
                    channelTargetType: state.delivery.channelTargetType,
                    codeLength: state.delivery.codeLength
                )
            } catch {
                await delegate.onResetPasswordResendCodeError(error: error.error, newState: error.state)
            }
        }
    }
}
