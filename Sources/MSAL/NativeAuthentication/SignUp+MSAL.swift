public import NativeAuthentication
import OAuth

/// Receives the result of starting a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
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

/// Receives the result of a step of a sign-up.
@MainActor
public protocol SignUpOutcomeDelegate: AnyObject, Sendable {
    func onSignUpAttributesRequired(
        attributes: [MSALNativeAuthRequiredAttribute],
        newState: SignUpAttributesRequiredState
    )

    /// The same without the list, as the documents show it; the state has the list.
    func onSignUpAttributesRequired(newState: SignUpAttributesRequiredState)
    func onSignUpCompleted(newState: SignInAfterSignUpState)
}

extension SignUpOutcomeDelegate {
    public func onSignUpAttributesRequired(
        attributes: [MSALNativeAuthRequiredAttribute],
        newState: SignUpAttributesRequiredState
    ) {
        onSignUpAttributesRequired(newState: newState)
    }

    public func onSignUpAttributesRequired(newState: SignUpAttributesRequiredState) {
        UnheardCallback.tell("onSignUpAttributesRequired(attributes:newState:)")
    }

    public func onSignUpCompleted(newState: SignInAfterSignUpState) {
        UnheardCallback.tell("onSignUpCompleted(newState:)")
    }

    func hear(_ state: SignUpAttributesRequiredState, else report: @escaping UnheardCallback.Report) {
        UnheardCallback.hear(else: report) {
            onSignUpAttributesRequired(attributes: state.attributes, newState: state)
        }
    }

    func hear(_ state: SignInAfterSignUpState, else report: @escaping UnheardCallback.Report) {
        UnheardCallback.hear(else: report) { onSignUpCompleted(newState: state) }
    }
}

/// Receives the result of submitting the code of a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignUpVerifyCodeDelegate: SignUpOutcomeDelegate {
    func onSignUpVerifyCodeError(error: VerifyCodeError, newState: SignUpCodeRequiredState?)
    func onSignUpPasswordRequired(newState: SignUpPasswordRequiredState)
}

extension SignUpVerifyCodeDelegate {
    public func onSignUpPasswordRequired(newState: SignUpPasswordRequiredState) {
        onSignUpVerifyCodeError(error: .unheard("onSignUpPasswordRequired(newState:)"), newState: nil)
    }
}

/// Receives the result of requesting another code for a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignUpResendCodeDelegate: AnyObject, Sendable {
    func onSignUpResendCodeError(error: ResendCodeError, newState: SignUpCodeRequiredState?)
    func onSignUpResendCodeCodeRequired(
        newState: SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension SignUpResendCodeDelegate {
    public func onSignUpResendCodeCodeRequired(
        newState: SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onSignUpResendCodeError(
            error: .unheard("onSignUpResendCodeCodeRequired(newState:sentTo:channelTargetType:codeLength:)"),
            newState: nil
        )
    }
}

/// Receives the result of submitting the password of a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignUpPasswordRequiredDelegate: SignUpOutcomeDelegate {
    func onSignUpPasswordRequiredError(error: PasswordRequiredError, newState: SignUpPasswordRequiredState?)
}

/// Receives the result of submitting the attributes of a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignUpAttributesRequiredDelegate: SignUpOutcomeDelegate {
    func onSignUpAttributesRequiredError(error: AttributesRequiredError)
    func onSignUpAttributesInvalid(attributeNames: [String], newState: SignUpAttributesRequiredState)
}

extension SignUpAttributesRequiredDelegate {
    public func onSignUpAttributesInvalid(attributeNames: [String], newState: SignUpAttributesRequiredState) {
        onSignUpAttributesRequiredError(error: .unheard("onSignUpAttributesInvalid(attributeNames:newState:)"))
    }
}

extension SignUpCodeRequiredState {
    public func submitCode(code: String, delegate: any SignUpVerifyCodeDelegate) {
        Task {
            do throws(StepError<VerifyCodeErrorKind, SignUpCodeRequiredState>) {
                switch try await submitCode(Secret(code)) {
                case .passwordRequired(let state): await delegate.onSignUpPasswordRequired(newState: state)
                case .attributesRequired(let state):
                    await delegate.hear(state) { delegate.onSignUpVerifyCodeError(error: .unheard($0), newState: nil) }
                case .completed(let state):
                    await delegate.hear(state) { delegate.onSignUpVerifyCodeError(error: .unheard($0), newState: nil) }
                }
            } catch {
                await delegate.onSignUpVerifyCodeError(error: error.error, newState: error.state)
            }
        }
    }

    public func resendCode(delegate: any SignUpResendCodeDelegate) {
        Task {
            do throws(StepError<ResendCodeErrorKind, SignUpCodeRequiredState>) {
                let state = try await resendCode()
                await delegate.onSignUpResendCodeCodeRequired(
                    newState: state,
                    sentTo: state.delivery.sentTo,
                    channelTargetType: state.delivery.channelTargetType,
                    codeLength: state.delivery.codeLength
                )
            } catch {
                await delegate.onSignUpResendCodeError(error: error.error, newState: error.state)
            }
        }
    }
}

extension SignUpPasswordRequiredState {
    public func submitPassword(password: String, delegate: any SignUpPasswordRequiredDelegate) {
        Task {
            do throws(StepError<PasswordRequiredErrorKind, SignUpPasswordRequiredState>) {
                switch try await submitPassword(Secret(password)) {
                case .attributesRequired(let state):
                    await delegate.hear(state) {
                        delegate.onSignUpPasswordRequiredError(error: .unheard($0), newState: nil)
                    }
                case .completed(let state):
                    await delegate.hear(state) {
                        delegate.onSignUpPasswordRequiredError(error: .unheard($0), newState: nil)
                    }
                }
            } catch {
                await delegate.onSignUpPasswordRequiredError(error: error.error, newState: error.state)
            }
        }
    }
}

extension SignUpAttributesRequiredState {
    public func submitAttributes(attributes: [String: Any], delegate: any SignUpAttributesRequiredDelegate) {
        let attributes = JSON.Object(attributes: attributes)
        Task {
            do throws(StepError<AttributesRequiredErrorKind, SignUpAttributesRequiredState>) {
                switch try await submitAttributes(attributes) {
                case .attributesRequired(let state):
                    await delegate.hear(state) { delegate.onSignUpAttributesRequiredError(error: .unheard($0)) }
                case .attributesInvalid(let names, let state):
                    await delegate.onSignUpAttributesInvalid(attributeNames: names, newState: state)
                case .completed(let state):
                    await delegate.hear(state) { delegate.onSignUpAttributesRequiredError(error: .unheard($0)) }
                }
            } catch {
                await delegate.onSignUpAttributesRequiredError(error: error.error)
            }
        }
    }
}
