public import NativeAuthentication
import OAuth

/// Receives the result of starting a reset.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol ResetPasswordStartDelegate: AnyObject, Sendable {
    /// The reset did not begin.
    func onResetPasswordStartError(error: ResetPasswordStartError)

    /// A code was sent; submit it with `newState`.
    func onResetPasswordCodeRequired(
        newState: ResetPasswordCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension ResetPasswordStartDelegate {
    /// Tells that the delegate lacks this method.
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
    /// The code was not taken; try again with `newState` where there is one.
    func onResetPasswordVerifyCodeError(error: VerifyCodeError, newState: ResetPasswordCodeRequiredState?)

    /// The new password is wanted.
    func onPasswordRequired(newState: ResetPasswordRequiredState)
}

extension ResetPasswordVerifyCodeDelegate {
    /// Tells that the delegate lacks this method.
    public func onPasswordRequired(newState: ResetPasswordRequiredState) {
        onResetPasswordVerifyCodeError(error: .unheard("onPasswordRequired(newState:)"), newState: nil)
    }
}

/// Receives the result of requesting another code for a reset.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol ResetPasswordResendCodeDelegate: AnyObject, Sendable {
    /// No other code was sent; go on with `newState` where there is one.
    func onResetPasswordResendCodeError(error: ResendCodeError, newState: ResetPasswordCodeRequiredState?)

    /// Another code was sent, and those before it are void.
    func onResetPasswordResendCodeRequired(
        newState: ResetPasswordCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension ResetPasswordResendCodeDelegate {
    /// Tells that the delegate lacks this method.
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
    /// The password was not taken; try again with `newState` where there is one.
    func onResetPasswordRequiredError(error: PasswordRequiredError, newState: ResetPasswordRequiredState?)

    /// The password is set; `newState` signs in with it.
    func onResetPasswordCompleted(newState: SignInAfterResetPasswordState)
}

extension ResetPasswordRequiredDelegate {
    /// Tells that the delegate lacks this method.
    public func onResetPasswordCompleted(newState: SignInAfterResetPasswordState) {
        onResetPasswordRequiredError(error: .unheard("onResetPasswordCompleted(newState:)"), newState: nil)
    }
}

extension ResetPasswordCodeRequiredState {
    /// Submits the code that the user received.
    public func submitCode(code: String, delegate: any ResetPasswordVerifyCodeDelegate) {
        Task {
            do throws(StepError<VerifyCodeErrorKind, ResetPasswordCodeRequiredState>) {
                await delegate.onPasswordRequired(newState: try await submitCode(Secret(code)))
            } catch {
                await delegate.onResetPasswordVerifyCodeError(error: error.error, newState: error.state)
            }
        }
    }

    /// Has another code sent, which voids those before it.
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
    /// Submits the password.
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
