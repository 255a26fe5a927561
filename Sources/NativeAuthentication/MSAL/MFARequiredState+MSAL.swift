import OAuth

extension MFARequiredState {
    public func requestChallenge(authMethod: MSALAuthMethod, delegate: any MFARequestChallengeDelegate) {
        Task {
            do throws(StepError<MFARequestChallengeErrorKind, MFARequiredState>) {
                let state = try await requestChallenge(authMethod)
                await delegate.onMFARequestChallengeVerificationRequired(
                    newState: state,
                    sentTo: state.delivery.sentTo,
                    channelTargetType: state.delivery.channelTargetType,
                    codeLength: state.delivery.codeLength
                )
            } catch {
                await delegate.onMFARequestChallengeError(error: error.error, newState: error.state)
            }
        }
    }

    public func submitChallenge(challenge: String, delegate: any MFASubmitChallengeDelegate) {
        Task {
            do throws(StepError<MFASubmitChallengeErrorKind, MFARequiredState>) {
                let account = try await submitChallenge(Secret(challenge))
                await delegate.hear(account) { delegate.onMFASubmitChallengeError(error: .unheard($0), newState: nil) }
            } catch {
                await delegate.onMFASubmitChallengeError(error: error.error, newState: error.state)
            }
        }
    }
}
