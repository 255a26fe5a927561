public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A sign-up to begin.
public struct SignUpParameters: Sendable {
    /// The name to sign in by, such as an e-mail address.
    public var username: String

    /// nil: asked for later, where the tenant wants one.
    public var password: Secret?

    /// The person's attributes, by name; several values of one attribute are joined by commas.
    public var attributes: JSONValue.Object?

    /// What the requests of the flow are marked with; nil: a new one.
    public var correlationID: UUID?

    /// A sign-up of this user; without a password a code is sent.
    public init(username: String, password: Secret? = nil, attributes: JSONValue.Object? = nil) {
        self.username = username
        self.password = password
        self.attributes = attributes
    }
}

/// The result of starting a sign-up.
public enum SignUpStartResult: Sendable {
    case codeRequired(SignUpCodeRequiredState)

    /// The tenant does not take the values of these attributes; correct them and begin again.
    case attributesInvalid([String])
}

/// A code was sent to the person who signs up.
public struct SignUpCodeRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// Where the code was sent, and how long it is.
    public let delivery: CodeDelivery

    /// Submits the code that the person received.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitCode(
        _ code: Secret
    ) async throws(StepError<VerifyCodeErrorKind, SignUpCodeRequiredState>) -> SignUpVerifyCodeResult {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidCode), self) }
        do throws(NativeRequestFailure) {
            return try await verify(code)
        } catch {
            let reason = VerifyCodeError(error.advisingSignInAfterSignUp(), in: flow) { failure in
                let refusal = failure.refusal(at: .signUpContinue)
                return refusal?.isInvalidCode == true || refusal?.isInvalidPassword == true ? .invalidCode : nil
            }
            throw StepError(reason, reason.isInvalidCode || error.keepsState ? self : nil)
        }
    }

    private func verify(_ code: Secret) async throws(NativeRequestFailure) -> SignUpVerifyCodeResult {
        switch try await flow.continueSignUp(.code(code), token) {
        case .completed(let state): return .completed(state)
        case .attributesRequired(let state): return .attributesRequired(state)
        case .credentialRequired(let next):
            do throws(NativeRequestFailure) {
                guard case .password(let token) = try await flow.challenge(.signUpChallenge, next) else {
                    throw flow.unexpected("asks for a code where a password is due", at: .signUpChallenge)
                }
                return .passwordRequired(SignUpPasswordRequiredState(flow: flow, token: token))
            } catch {
                throw error.ending()
            }
        }
    }

    /// Has another code sent; those before it are good no more.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func resendCode() async throws(StepError<ResendCodeErrorKind, SignUpCodeRequiredState>)
        -> SignUpCodeRequiredState
    {
        do throws(NativeRequestFailure) {
            let (delivery, token) = try await flow.code(.signUpChallenge, token)
            return SignUpCodeRequiredState(flow: flow, token: token, delivery: delivery)
        } catch {
            throw StepError(ResendCodeError(error, in: flow), error.endsFlow ? nil : self)
        }
    }
}

/// The result of submitting the right code of a sign-up.
public enum SignUpVerifyCodeResult: Sendable {
    case passwordRequired(SignUpPasswordRequiredState)
    case attributesRequired(SignUpAttributesRequiredState)

    /// The account exists.
    case completed(SignInAfterSignUpState)
}

/// The person who signs up has to choose a password.
public struct SignUpPasswordRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// Submits the password.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitPassword(
        _ password: Secret
    ) async throws(StepError<PasswordRequiredErrorKind, SignUpPasswordRequiredState>) -> SignUpPasswordResult {
        guard password.count > 0 else { throw StepError(flow.emptyPassword(.invalidPassword), self) }
        do throws(NativeRequestFailure) {
            switch try await flow.continueSignUp(.password(password), token) {
            case .completed(let state): return .completed(state)
            case .attributesRequired(let state): return .attributesRequired(state)
            case .credentialRequired:
                throw flow.unexpected("asks for the password again", at: .signUpContinue).ending()
            }
        } catch {
            let reason = PasswordRequiredError(error.advisingSignInAfterSignUp(), in: flow) {
                $0.refusal?.isInvalidPassword == true ? .invalidPassword : nil
            }
            throw StepError(reason, reason.isInvalidPassword || error.keepsState ? self : nil)
        }
    }
}

/// The result of submitting the password of a sign-up.
public enum SignUpPasswordResult: Sendable {
    case attributesRequired(SignUpAttributesRequiredState)

    /// The account exists.
    case completed(SignInAfterSignUpState)
}

/// The tenant wants to know more of the person who signs up.
public struct SignUpAttributesRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// The attributes of this page.
    public let attributes: [RequiredAttribute]

    /// Submits attributes by name; several values of one attribute are joined by commas.
    ///
    /// - Throws: the error, with this state for another try where nothing was sent.
    public func submitAttributes(
        _ attributes: JSONValue.Object
    ) async throws(StepError<AttributesRequiredErrorKind, SignUpAttributesRequiredState>) -> SignUpAttributesResult {
        guard let text = attributes.serializedAttributes else {
            let reason = AttributesRequiredError(
                .generalError,
                JSONValue.Object.attributeFlaw,
                flow.correlationID,
                remedy: .correct("give texts")
            )
            throw StepError(reason, self)
        }
        do throws(NativeRequestFailure) {
            switch try await flow.continueSignUp(.attributes(text), token) {
            case .completed(let state): return .completed(state)
            case .attributesRequired(let state): return .attributesRequired(state)
            case .credentialRequired: throw flow.unexpected("asks for a password", at: .signUpContinue).ending()
            }
        } catch {
            let names = error.invalidAttributes
            if error.refusal?.isInvalidAttributes(names) == true { return .attributesInvalid(names, self) }
            let reason = AttributesRequiredError(error.advisingSignInAfterSignUp(), in: flow)
            throw StepError(reason, error.keepsState ? self : nil)
        }
    }
}

/// The result of submitting the attributes of a sign-up.
public enum SignUpAttributesResult: Sendable {
    /// More are asked for, or the same that were left out.
    case attributesRequired(SignUpAttributesRequiredState)

    /// The tenant does not take the values of the attributes named.
    case attributesInvalid([String], SignUpAttributesRequiredState)

    /// The account exists.
    case completed(SignInAfterSignUpState)
}
