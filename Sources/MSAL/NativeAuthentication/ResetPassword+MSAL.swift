public import NativeAuthentication
import OAuth

/// Receives the result of starting a reset.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol ResetPasswordStartDelegate: AnyObject, Sendable {
    func onResetPasswordStartError(error: ResetPasswordStartError)
    func onResetPasswordCodeRequired(
        newState: ResetPasswordCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension ResetPasswordStartDelegate {
    public func onResetPasswordCodeRequired(
        newState: ResetPasswordCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onResetPasswordStartError(
            error: .unheard("onResetPasswordCodeRequired(newState:sentTo:channelTargetType:codeLength:)")
        )
    }
}

/// Receives the result of submitting the code of a reset.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol ResetPasswordVerifyCodeDelegate: AnyObject, Sendable {
    func onResetPasswordVerifyCodeError(error: VerifyCodeError, newState: ResetPasswordCodeRequiredState?)
    func onPasswordRequired(newState: ResetPasswordRequiredState)
}

extension ResetPasswordVerifyCodeDelegate {
    public func onPasswordRequired(newState: ResetPasswordRequiredState) {
        onResetPasswordVerifyCodeError(error: .unheard("onPasswordRequired(newState:)"), newState: nil)
    }
}

/// Receives the result of requesting another code for a reset.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol ResetPasswordResendCodeDelegate: AnyObject, Sendable {
    func onResetPasswordResendCodeError(error: ResendCodeError, newState: ResetPasswordCodeRequiredState?)
    func onResetPasswordResendCodeRequired(
        newState: ResetPasswordCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension ResetPasswordResendCodeDelegate {
    public func onResetPasswordResendCodeRequired(
        newState: ResetPasswordCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onResetPasswordResendCodeError(
            error: .unheard("onResetPasswordResendCodeRequired(newState:sentTo:channelTargetType:codeLength:)"),
            newState: nil
        )
    }
}

/// Receives the result of submitting the new password.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol ResetPasswordRequiredDelegate: AnyObject, Sendable {
    func onResetPasswordRequiredError(error: PasswordRequiredError, newState: ResetPasswordRequiredState?)
    func onResetPasswordCompleted(newState: SignInAfterResetPasswordState)
}

extension ResetPasswordRequiredDelegate {
    public func onResetPasswordCompleted(newState: SignInAfterResetPasswordState) {
        onResetPasswordRequiredError(error: .unheard("onResetPasswordCompleted(newState:)"), newState: nil)
    }
}

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

extension ResetPasswordRequiredState {
    public func submitPassword(password: String, delegate: any ResetPasswordRequiredDelegate) {
        Task {
            do throws(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>) {
                await delegate.onResetPasswordCompleted(newState: try await submitPassword(Secret(password)))
            } catch {
                await delegate.onResetPasswordRequiredError(error: error.error, newState: error.state)
            }
        }
    }
}
