public import NativeAuthentication
import OAuth

/// Receives the result of starting a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignUpStartDelegate: AnyObject, Sendable {
    /// The sign-up did not begin.
    func onSignUpStartError(error: SignUpStartError)

    /// A code was sent; submit it with `newState`.
    func onSignUpCodeRequired(
        newState: SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )

    /// The issuer refuses these attributes.
    func onSignUpAttributesInvalid(attributeNames: [String])
}

extension SignUpStartDelegate {
    /// Tells that the delegate lacks this method.
    public func onSignUpCodeRequired(
        newState: SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    ) {
        onSignUpStartError(error: .unheard("onSignUpCodeRequired(newState:sentTo:channelTargetType:codeLength:)"))
    }

    /// Tells that the delegate lacks this method.
    public func onSignUpAttributesInvalid(attributeNames: [String]) {
        onSignUpStartError(error: .unheard("onSignUpAttributesInvalid(attributeNames:)"))
    }
}

/// Receives the result of a step of a sign-up.
@MainActor
public protocol SignUpOutcomeDelegate: AnyObject, Sendable {
    /// Attributes are wanted.
    func onSignUpAttributesRequired(
        attributes: [MSALNativeAuthRequiredAttribute],
        newState: SignUpAttributesRequiredState
    )

    /// The same without the list, as the documents show it; the state has the list.
    func onSignUpAttributesRequired(newState: SignUpAttributesRequiredState)

    /// The account exists; `newState` signs it in.
    func onSignUpCompleted(newState: SignInAfterSignUpState)
}

extension SignUpOutcomeDelegate {
    /// Tells that the delegate lacks this method.
    public func onSignUpAttributesRequired(
        attributes: [MSALNativeAuthRequiredAttribute],
        newState: SignUpAttributesRequiredState
    ) {
        onSignUpAttributesRequired(newState: newState)
    }

    /// Tells that the delegate lacks this method.
    public func onSignUpAttributesRequired(newState: SignUpAttributesRequiredState) {
        UnheardCallback.tell("onSignUpAttributesRequired(attributes:newState:)")
    }

    /// Tells that the delegate lacks this method.
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
    /// The code was not taken; try again with `newState` where there is one.
    func onSignUpVerifyCodeError(error: VerifyCodeError, newState: SignUpCodeRequiredState?)

    /// A password is wanted.
    func onSignUpPasswordRequired(newState: SignUpPasswordRequiredState)
}

extension SignUpVerifyCodeDelegate {
    /// Tells that the delegate lacks this method.
    public func onSignUpPasswordRequired(newState: SignUpPasswordRequiredState) {
        onSignUpVerifyCodeError(error: .unheard("onSignUpPasswordRequired(newState:)"), newState: nil)
    }
}

/// Receives the result of requesting another code for a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignUpResendCodeDelegate: AnyObject, Sendable {
    /// No other code was sent; go on with `newState` where there is one.
    func onSignUpResendCodeError(error: ResendCodeError, newState: SignUpCodeRequiredState?)

    /// Another code was sent, and those before it are void.
    func onSignUpResendCodeCodeRequired(
        newState: SignUpCodeRequiredState,
        sentTo: String,
        channelTargetType: MSALNativeAuthChannelType,
        codeLength: Int
    )
}

extension SignUpResendCodeDelegate {
    /// Tells that the delegate lacks this method.
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
    /// The password was not taken; try again with `newState` where there is one.
    func onSignUpPasswordRequiredError(error: PasswordRequiredError, newState: SignUpPasswordRequiredState?)
}

/// Receives the result of submitting the attributes of a sign-up.
///
/// Each callback is optional. If it is not implemented, the error callback is called instead.
@MainActor
public protocol SignUpAttributesRequiredDelegate: SignUpOutcomeDelegate {
    /// The attributes were not taken.
    func onSignUpAttributesRequiredError(error: AttributesRequiredError)

    /// The issuer refuses these attributes.
    func onSignUpAttributesInvalid(attributeNames: [String], newState: SignUpAttributesRequiredState)
}

extension SignUpAttributesRequiredDelegate {
    /// Tells that the delegate lacks this method.
    public func onSignUpAttributesInvalid(attributeNames: [String], newState: SignUpAttributesRequiredState) {
        onSignUpAttributesRequiredError(error: .unheard("onSignUpAttributesInvalid(attributeNames:newState:)"))
    }
}

extension SignUpCodeRequiredState {
    /// Submits the code that the user received.
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

    /// Has another code sent, which voids those before it.
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
    /// Submits the password.
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
    /// Submits attributes of the user.
    public func submitAttributes(attributes: [String: Any], delegate: any SignUpAttributesRequiredDelegate) {
        let attributes = JSONValue.Object(attributes: attributes)
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
