/// Hears how a sign-in begins; a callback that is left out comes back as an error.
@MainActor
public protocol SignInStartDelegate: SignInOutcomeDelegate {
    func onSignInStartError(error: SignInStartError)
    func onSignInCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
    func onSignInPasswordRequired(newState: SignInPasswordRequiredState)
}

extension SignInStartDelegate {
    public func onSignInCodeRequired(
        newState: SignInCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onSignInStartError(error: .unheard("onSignInCodeRequired(newState:sentTo:channelTargetType:codeLength:)"))
    }

    public func onSignInPasswordRequired(newState: SignInPasswordRequiredState) {
        onSignInStartError(error: .unheard("onSignInPasswordRequired(newState:)"))
    }
}
