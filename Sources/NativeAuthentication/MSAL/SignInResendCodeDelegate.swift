/// Hears of another code of a sign-in; a callback that is left out comes back as an error.
@MainActor
public protocol SignInResendCodeDelegate: AnyObject, Sendable {
    func onSignInResendCodeError(error: ResendCodeError, newState: SignInCodeRequiredState?)
    func onSignInResendCodeCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension SignInResendCodeDelegate {
    public func onSignInResendCodeCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onSignInResendCodeError(
            error: .unheard("onSignInResendCodeCodeRequired(newState:sentTo:channelTargetType:codeLength:)"),
            newState: nil
        )
    }
}
