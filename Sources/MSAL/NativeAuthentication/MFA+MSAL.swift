public import NativeAuthentication
import OAuth

/// Receives the result of requesting a second factor.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol MFARequestChallengeDelegate: AnyObject, Sendable {
    /// No code was sent.
    func onMFARequestChallengeError(error: MFARequestChallengeError, newState: MFARequiredState?)

    /// No code was sent yet, and the choice is as it was.
    func onMFARequestChallengeError(error: MFARequestChallengeError, awaiting state: AwaitingMFAState?)

    /// A code was sent; submit it with `newState`.
    func onMFARequestChallengeVerificationRequired(
        newState: MFARequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension MFARequestChallengeDelegate {
    /// Calls the other form.
    public func onMFARequestChallengeError(error: MFARequestChallengeError, awaiting state: AwaitingMFAState?) {
        onMFARequestChallengeError(error: error, newState: nil)
    }

    /// Tells that the delegate lacks this method.
    public func onMFARequestChallengeVerificationRequired(
        newState: MFARequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        let label = "onMFARequestChallengeVerificationRequired(newState:sentTo:channelTargetType:codeLength:)"
        onMFARequestChallengeError(error: .unheard(label), newState: nil)
    }

    fileprivate func hear(_ state: MFARequiredState) {
        onMFARequestChallengeVerificationRequired(
            newState: state,
            sentTo: state.delivery.sentTo,
            channelTargetType: state.delivery.channelTargetType,
            codeLength: state.delivery.codeLength
        )
    }
}

/// Receives the result of submitting the code of a second factor.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol MFASubmitChallengeDelegate: SignInCompletedDelegate {
    /// The code was not taken; try again with `newState` where there is one.
    func onMFASubmitChallengeError(error: MFASubmitChallengeError, newState: MFARequiredState?)
}

extension AwaitingMFAState {
    /// Has a code sent by one of the methods.
    public func requestChallenge(authMethod: MSALAuthMethod, delegate: any MFARequestChallengeDelegate) {
        Task {
            do throws(StepError<MFARequestChallengeErrorKind, AwaitingMFAState>) {
                await delegate.hear(try await requestChallenge(authMethod))
            } catch {
                await delegate.onMFARequestChallengeError(error: error.error, awaiting: error.state)
            }
        }
    }
}

extension MFARequiredState {
    /// Has a code sent by one of the methods.
    public func requestChallenge(authMethod: MSALAuthMethod, delegate: any MFARequestChallengeDelegate) {
        Task {
            do throws(StepError<MFARequestChallengeErrorKind, MFARequiredState>) {
                await delegate.hear(try await requestChallenge(authMethod))
            } catch {
                await delegate.onMFARequestChallengeError(error: error.error, newState: error.state)
            }
        }
    }

    /// Submits the code that the user received.
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
