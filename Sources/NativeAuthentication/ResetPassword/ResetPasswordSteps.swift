public import OAuth
import OpenIDConnect

/// A code was sent to the person whose password is to be reset.
public struct ResetPasswordCodeRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// Where the code was sent, and how long it is.
    public let delivery: CodeDelivery

    /// Submits the code that the person received.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitCode(
        _ code: Secret
    ) async throws(StepError<VerifyCodeErrorKind, ResetPasswordCodeRequiredState>) -> ResetPasswordRequiredState {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidCode), self) }
        do throws(NativeRequestFailure) {
            var form = flow.form(token)
            form.append("grant_type", NativeGrant.Name.code.rawValue)
            form.append("oob", code)
            let next = try await flow.send(.resetContinue, form).continuationToken()
            return ResetPasswordRequiredState(flow: flow, token: next)
        } catch {
            let reason = VerifyCodeError(error, in: flow) { $0.refusal?.isInvalidCode == true ? .invalidCode : nil }
            throw StepError(reason, reason.isInvalidCode || error.keepsState ? self : nil)
        }
    }

    /// Has another code sent; those before it are good no more.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func resendCode() async throws(StepError<ResendCodeErrorKind, ResetPasswordCodeRequiredState>)
        -> ResetPasswordCodeRequiredState
    {
        do throws(NativeRequestFailure) {
            let (delivery, token) = try await flow.code(.resetChallenge, token)
            return ResetPasswordCodeRequiredState(flow: flow, token: token, delivery: delivery)
        } catch {
            throw StepError(ResendCodeError(error, in: flow), error.endsFlow ? nil : self)
        }
    }
}

/// The person whose password is to be reset has to choose a new one.
public struct ResetPasswordRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// Submits the new password, and waits until it is in force.
    ///
    /// - Throws: the error, with a state for another try where there is one.
    public func submitPassword(
        _ password: Secret
    ) async throws(StepError<PasswordRequiredErrorKind, ResetPasswordRequiredState>) -> SignInAfterResetPasswordState {
        guard password.count > 0 else { throw StepError(flow.emptyPassword(.invalidPassword), self) }
        let polling: ResetPolling
        do throws(NativeRequestFailure) {
            var form = flow.form(token)
            form.append("new_password", password)
            polling = try ResetPolling(flow: flow, reply: try await flow.send(.resetSubmit, form))
        } catch {
            let failure = error.mayHaveTakenEffect ? error.advising(.signInAfterSubmission) : error
            let reason = PasswordRequiredError(failure, in: flow) {
                $0.refusal?.isInvalidPassword == true ? .invalidPassword : nil
            }
            throw StepError(reason, reason.isInvalidPassword || error.keepsState ? self : nil)
        }
        return try await polling.outcome()
    }
}

/// Why a password reset did not begin.
public typealias ResetPasswordStartError = NativeAuthError<ResetPasswordStartErrorKind>

/// The kinds of ``ResetPasswordStartError``.
public struct ResetPasswordStartErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No account has the username.
    public static let userNotFound = ResetPasswordStartErrorKind(rawValue: "userNotFound")
    /// The username is empty.
    public static let invalidUsername = ResetPasswordStartErrorKind(rawValue: "invalidUsername")
    /// The account signs in without a password.
    public static let userDoesNotHavePassword = ResetPasswordStartErrorKind(rawValue: "userDoesNotHavePassword")

    /// Those of this version; a later one may have more.
    public static let known = [userNotFound, invalidUsername, userDoesNotHavePassword, browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .userNotFound: "check the username, or sign up"
        case .invalidUsername: "give a username"
        case .userDoesNotHavePassword: "sign in with a code"
        case .browserRequired: "go on in a browser"
        default: "start the reset again"
        }
    }
}

extension NativeAuthError<ResetPasswordStartErrorKind> {
    /// Whether the issuer knows no user of that name.
    public var isUserNotFound: Bool { kind == .userNotFound }

    /// Whether the issuer takes no such text for a user name.
    public var isInvalidUsername: Bool { kind == .invalidUsername }

    /// Whether the user signs in without a password, so that there is none to reset.
    public var isUserDoesNotHavePassword: Bool { kind == .userDoesNotHavePassword }
}
