public import NativeAuthentication
import OAuth

/// Receives the result of registering a contact.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol RegisterStrongAuthChallengeDelegate: SignInCompletedDelegate {
    /// No code was sent; try again with `newState` where there is one.
    func onRegisterStrongAuthChallengeError(error: RegisterStrongAuthChallengeError, newState: RegisterStrongAuthState?)

    /// A code was sent to the contact.
    func onRegisterStrongAuthVerificationRequired(result: MSALNativeAuthRegisterStrongAuthVerificationRequiredResult)
}

extension RegisterStrongAuthChallengeDelegate {
    /// Tells that the delegate lacks this method.
    public func onRegisterStrongAuthVerificationRequired(
        result: MSALNativeAuthRegisterStrongAuthVerificationRequiredResult
    ) {
        onRegisterStrongAuthChallengeError(
            error: .unheard("onRegisterStrongAuthVerificationRequired(result:)"),
            newState: nil
        )
    }

    fileprivate func hear(_ result: RegisterStrongAuthChallengeResult) {
        switch result {
        case .verificationRequired(let state): onRegisterStrongAuthVerificationRequired(result: .init(newState: state))
        case .completed(let account):
            hear(account) { self.onRegisterStrongAuthChallengeError(error: .unheard($0), newState: nil) }
        }
    }
}

/// Receives the result of submitting the code of a contact.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol RegisterStrongAuthSubmitChallengeDelegate: SignInCompletedDelegate {
    /// The code was not taken; try again with `newState` where there is one.
    func onRegisterStrongAuthSubmitChallengeError(
        error: RegisterStrongAuthSubmitChallengeError,
        newState: RegisterStrongAuthVerificationRequiredState?
    )
}

/// Where the code for a contact was sent, and the state to submit it with.
public struct MSALNativeAuthRegisterStrongAuthVerificationRequiredResult: Sendable {
    /// What the code is submitted with.
    public let newState: RegisterStrongAuthVerificationRequiredState

    /// Where the code was sent, masked.
    public var sentTo: String { newState.delivery.sentTo }

    /// By what the code was sent.
    public var channelTargetType: MSALNativeAuthChannelType { newState.delivery.channelTargetType }

    /// How many digits the code has.
    public var codeLength: Int { newState.delivery.codeLength }
}

extension RegisterStrongAuthState {
    /// Has a code sent to a contact that is to become the user's method.
    public func challengeAuthMethod(
        parameters: MSALNativeAuthChallengeAuthMethodParameters,
        delegate: any RegisterStrongAuthChallengeDelegate
    ) {
        let (method, contact) = (parameters.authMethod, parameters.verificationContact)
        Task {
            do throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthState>) {
                await delegate.hear(try await challengeAuthMethod(method, contact: contact))
            } catch {
                await delegate.onRegisterStrongAuthChallengeError(error: error.error, newState: error.state)
            }
        }
    }
}

extension RegisterStrongAuthVerificationRequiredState {
    /// Has a code sent to a contact that is to become the user's method.
    public func challengeAuthMethod(
        parameters: MSALNativeAuthChallengeAuthMethodParameters,
        delegate: any RegisterStrongAuthChallengeDelegate
    ) {
        let (method, contact) = (parameters.authMethod, parameters.verificationContact)
        Task {
            do throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthVerificationRequiredState>) {
                await delegate.hear(try await challengeAuthMethod(method, contact: contact))
            } catch {
                await delegate.onRegisterStrongAuthChallengeError(error: error.error, newState: error.state?.choice)
            }
        }
    }

    /// Submits the code that the user received.
    public func submitChallenge(challenge: String, delegate: any RegisterStrongAuthSubmitChallengeDelegate) {
        Task {
            do throws(StepError<
                RegisterStrongAuthSubmitChallengeErrorKind, RegisterStrongAuthVerificationRequiredState
            >) {
                let account = try await submitChallenge(Secret(challenge))
                await delegate.hear(account) {
                    delegate.onRegisterStrongAuthSubmitChallengeError(error: .unheard($0), newState: nil)
                }
            } catch {
                await delegate.onRegisterStrongAuthSubmitChallengeError(error: error.error, newState: error.state)
            }
        }
    }
}
