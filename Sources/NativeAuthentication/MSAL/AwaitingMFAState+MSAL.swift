extension AwaitingMFAState {
    public func requestChallenge(authMethod: MSALAuthMethod, delegate: any MFARequestChallengeDelegate) {
        Task {
            do throws(StepError<MFARequestChallengeErrorKind, AwaitingMFAState>) {
                let state = try await requestChallenge(authMethod)
                await delegate.onMFARequestChallengeVerificationRequired(
                    newState: state,
                    sentTo: state.delivery.sentTo,
                    channelTargetType: state.delivery.channelTargetType,
                    codeLength: state.delivery.codeLength
                )
            } catch {
                await delegate.onMFARequestChallengeError(error: error.error, awaiting: error.state)
            }
        }
    }
}
