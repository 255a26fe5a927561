public import NativeAuthentication
import OAuth

/// Receives the result of registering a contact.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol RegisterStrongAuthChallengeDelegate: SignInCompletedDelegate {
    func onRegisterStrongAuthChallengeError(error: RegisterStrongAuthChallengeError, newState: RegisterStrongAuthState?)
    func onRegisterStrongAuthVerificationRequired(result: MSALNativeAuthRegisterStrongAuthVerificationRequiredResult)
}

extension RegisterStrongAuthChallengeDelegate {
    public func onRegisterStrongAuthVerificationRequired(
        result: MSALNativeAuthRegisterStrongAuthVerificationRequiredResult
    ) {
        onRegisterStrongAuthChallengeError(
            error: .unheard("onRegisterStrongAuthVerificationRequired(result:)"),
            newState: nil
        )
    }
}

/// Receives the result of submitting the code of a contact.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol RegisterStrongAuthSubmitChallengeDelegate: SignInCompletedDelegate {
    func onRegisterStrongAuthSubmitChallengeError(
        error: RegisterStrongAuthSubmitChallengeError,
        newState: RegisterStrongAuthVerificationRequiredState?
    )
}

/// Where the code for a contact was sent, and the state to submit it with.
public struct MSALNativeAuthRegisterStrongAuthVerificationRequiredResult: Sendable {
    public let newState: RegisterStrongAuthVerificationRequiredState

    public var sentTo: String { newState.delivery.sentTo }
    public var channelTargetType: MSALNativeAuthChannelType { newState.delivery.channelTargetType }
    public var codeLength: Int { newState.delivery.codeLength }
}

extension RegisterStrongAuthState {
    public func challengeAuthMethod(
        parameters: MSALNativeAuthChallengeAuthMethodParameters,
        delegate: any RegisterStrongAuthChallengeDelegate
    ) {
        let (method, contact) = (parameters.authMethod, parameters.verificationContact)
        Task {
            do throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthState>) {
                switch try await challengeAuthMethod(method, contact: contact) {
                case .verificationRequired(let state):
                    await delegate.onRegisterStrongAuthVerificationRequired(result: .init(newState: state))
                case .completed(let account):
                    await delegate.hear(account) {
                        delegate.onRegisterStrongAuthChallengeError(error: .unheard($0), newState: nil)
                    }
                }
            } catch {
                await delegate.onRegisterStrongAuthChallengeError(error: error.error, newState: error.state)
            }
        }
    }
}

extension RegisterStrongAuthVerificationRequiredState {
    public func challengeAuthMethod(
        parameters: MSALNativeAuthChallengeAuthMethodParameters,
        delegate: any RegisterStrongAuthChallengeDelegate
    ) {
        let (method, contact) = (parameters.authMethod, parameters.verificationContact)
        Task {
            do throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthVerificationRequiredState>) {
                switch try await challengeAuthMethod(method, contact: contact) {
                case .verificationRequired(let state):
                    await delegate.onRegisterStrongAuthVerificationRequired(result: .init(newState: state))
                case .completed(let account):
                    await delegate.hear(account) {
                        delegate.onRegisterStrongAuthChallengeError(error: .unheard($0), newState: nil)
                    }
                }
            } catch {
                await delegate.onRegisterStrongAuthChallengeError(error: error.error, newState: error.state?.choice)
            }
        }
    }

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
