/// Hears how a reset begins; a callback that is left out comes back as an error.
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
