/// Hears how a second factor is asked for; a callback that is left out comes back as an error.
@MainActor
public protocol MFARequestChallengeDelegate: AnyObject, Sendable {
    func onMFARequestChallengeError(error: MFARequestChallengeError, newState: MFARequiredState?)

    /// No code was sent yet, and the choice is as it was.
    func onMFARequestChallengeError(error: MFARequestChallengeError, awaiting state: AwaitingMFAState?)
    func onMFARequestChallengeVerificationRequired(
        newState: MFARequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension MFARequestChallengeDelegate {
    public func onMFARequestChallengeError(error: MFARequestChallengeError, awaiting state: AwaitingMFAState?) {
        onMFARequestChallengeError(error: error, newState: nil)
    }

    public func onMFARequestChallengeVerificationRequired(
        newState: MFARequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        let label = "onMFARequestChallengeVerificationRequired(newState:sentTo:channelTargetType:codeLength:)"
        onMFARequestChallengeError(error: .unheard(label), newState: nil)
    }
}
