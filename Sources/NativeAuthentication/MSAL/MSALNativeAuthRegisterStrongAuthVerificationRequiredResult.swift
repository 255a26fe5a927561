/// Where the code for a contact was sent, and the state to submit it with.
public struct MSALNativeAuthRegisterStrongAuthVerificationRequiredResult: Sendable {
    public let newState: RegisterStrongAuthVerificationRequiredState

    public var sentTo: String { newState.delivery.sentTo }
    public var channelTargetType: MSALNativeAuthChannelType { newState.delivery.channelTargetType }
    public var codeLength: Int { newState.delivery.codeLength }
}
