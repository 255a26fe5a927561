/// Hears how a sign-up begins; a callback that is left out comes back as an error.
@MainActor
public protocol SignUpStartDelegate: AnyObject, Sendable {
    func onSignUpStartError(error: SignUpStartError)
    func onSignUpCodeRequired(
        newState: SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
    func onSignUpAttributesInvalid(attributeNames: [String])
}

extension SignUpStartDelegate {
    public func onSignUpCodeRequired(
        newState: SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onSignUpStartError(error: .unheard("onSignUpCodeRequired(newState:sentTo:channelTargetType:codeLength:)"))
    }

    public func onSignUpAttributesInvalid(attributeNames: [String]) {
        onSignUpStartError(error: .unheard("onSignUpAttributesInvalid(attributeNames:)"))
    }
}
