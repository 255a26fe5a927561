/// Hears of another code of a reset; a callback that is left out comes back as an error.
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
