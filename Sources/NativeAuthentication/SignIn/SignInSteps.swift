public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A sign-in to begin.
public struct SignInParameters: Sendable {
    /// The name to sign in by, such as an e-mail address.
    public var username: String

    /// nil: the issuer asks for it, or for a code.
    public var password: Secret?

    /// The scopes that the access token must have; those for an ID token and a refresh token are added.
    public var scope = Scope([])

    /// The `claims` parameter ([OpenID Connect Core
    /// §5.5](https://openid.net/specs/openid-connect-core-1_0.html#ClaimsParameter)).
    public var claims: JSONValue?

    /// What the requests of the flow are marked with; nil: a new one.
    public var correlationID: UUID?

    /// A sign-in of this user; without a password a code is sent.
    public init(username: String, password: Secret? = nil, scope: Scope = Scope([])) {
        self.username = username
        self.password = password
        self.scope = scope
    }
}

/// The result of starting a sign-in.
public enum SignInStartResult: Sendable {
    case codeRequired(SignInCodeRequiredState)
    case passwordRequired(SignInPasswordRequiredState)
    case awaitingMFA(AwaitingMFAState)
    case strongAuthMethodRegistration(RegisterStrongAuthState)
    case completed(NativeAuthUserAccount)

    init(_ result: SignInResult) {
        self =
            switch result {
            case .awaitingMFA(let state): .awaitingMFA(state)
            case .strongAuthMethodRegistration(let state): .strongAuthMethodRegistration(state)
            case .completed(let account): .completed(account)
            }
    }
}

/// The result of the first factor of a sign-in.
public enum SignInResult: Sendable {
    case awaitingMFA(AwaitingMFAState)
    case strongAuthMethodRegistration(RegisterStrongAuthState)
    case completed(NativeAuthUserAccount)
}

/// A code was sent to the person who signs in.
public struct SignInCodeRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// Where the code was sent, and how long it is.
    public let delivery: CodeDelivery

    /// Submits the code that the person received.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitCode(
        _ code: Secret
    ) async throws(StepError<VerifyCodeErrorKind, SignInCodeRequiredState>) -> SignInResult {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidCode), self) }
        do {
            return try await flow.signIn(.code(code), token)
        } catch {
            let reason = VerifyCodeError(error, in: flow) { $0.refusal?.isInvalidCode == true ? .invalidCode : nil }
            throw StepError(reason, error.endsFlow ? nil : self)
        }
    }

    /// Has another code sent; those before it are good no more.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func resendCode() async throws(StepError<ResendCodeErrorKind, SignInCodeRequiredState>)
        -> SignInCodeRequiredState
    {
        do {
            let (delivery, token) = try await flow.code(.challenge, token)
            return SignInCodeRequiredState(flow: flow, token: token, delivery: delivery)
        } catch {
            throw StepError(ResendCodeError(error, in: flow), error.endsFlow ? nil : self)
        }
    }
}

/// The person who signs in has a password.
public struct SignInPasswordRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// Submits the password.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitPassword(
        _ password: Secret
    ) async throws(StepError<PasswordRequiredErrorKind, SignInPasswordRequiredState>) -> SignInResult {
        guard password.count > 0 else { throw StepError(flow.emptyPassword(.invalidPassword), self) }
        do {
            return try await flow.signIn(.password(password), token)
        } catch {
            let reason = PasswordRequiredError(error, in: flow) {
                $0.refusal?.isWrongPassword == true ? .invalidPassword : nil
            }
            throw StepError(reason, error.endsFlow ? nil : self)
        }
    }
}

/// The account exists; it can be signed in without another prompt.
public struct SignInAfterSignUpState: Sendable {
    let flow: NativeFlow

    /// nil where the issuer sent none; then a usual sign-in is needed.
    let token: Secret?

    /// Signs in.
    public func signIn(
        scope: Scope = Scope([]),
        claims: JSONValue? = nil
    ) async throws(SignInAfterSignUpError) -> SignInResult {
        let flow = flow.signingIn(scope, claims)
        do {
            return try await flow.signIn(after: token)
        } catch {
            throw SignInAfterSignUpError(error.advising(.signIn("the account exists, sign in as usual")), in: flow)
        }
    }
}

/// The new password is set; the account can be signed in without another prompt.
public struct SignInAfterResetPasswordState: Sendable {
    let flow: NativeFlow

    /// nil where the issuer sent none; then a usual sign-in is needed.
    let token: Secret?

    /// Signs in.
    public func signIn(
        scope: Scope = Scope([]),
        claims: JSONValue? = nil
    ) async throws(SignInAfterResetPasswordError) -> SignInResult {
        let flow = flow.signingIn(scope, claims)
        do {
            return try await flow.signIn(after: token)
        } catch {
            let advice = Remedy.signIn("the new password is in force, sign in with it")
            throw SignInAfterResetPasswordError(error.advising(advice), in: flow)
        }
    }
}
