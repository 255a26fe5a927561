/// Hears of another code of a sign-up; a callback that is left out comes back as an error.
@MainActor
public protocol SignUpResendCodeDelegate: AnyObject, Sendable {
    func onSignUpResendCodeError(error: ResendCodeError, newState: SignUpCodeRequiredState?)
    func onSignUpResendCodeCodeRequired(
        newState: SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension SignUpResendCodeDelegate {
    public func onSignUpResendCodeCodeRequired(
        newState: SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onSignUpResendCodeError(
            error: .unheard("onSignUpResendCodeCodeRequired(newState:sentTo:channelTargetType:codeLength:)"),
            newState: nil
        )
    }
}
