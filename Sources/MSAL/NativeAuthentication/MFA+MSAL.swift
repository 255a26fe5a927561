public import NativeAuthentication
import OAuth

/// Receives the result of requesting a second factor.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
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

/// Receives the result of submitting the code of a second factor.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol MFASubmitChallengeDelegate: SignInCompletedDelegate {
    func onMFASubmitChallengeError(error: MFASubmitChallengeError, newState: MFARequiredState?)
}

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
