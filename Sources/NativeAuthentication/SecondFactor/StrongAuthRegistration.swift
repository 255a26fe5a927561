public import OAuth

/// The person has no method for a second factor yet, and is to register one.
public struct RegisterStrongAuthState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// What may be registered.
    public let authMethods: [AuthMethod]

    /// Has a code sent to a contact that is to become the person's method.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func challengeAuthMethod(
        _ method: AuthMethod,
        contact: String
    ) async throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthState>)
        -> RegisterStrongAuthChallengeResult
    {
        do {
            return try await flow.register(contact, as: method, token, authMethods)
        } catch {
            throw StepError(error.reason, error.endsFlow ? nil : self)
        }
    }
}

/// The result of registering a method.
public enum RegisterStrongAuthChallengeResult: Sendable {
    case verificationRequired(RegisterStrongAuthVerificationRequiredState)

    /// The contact was verified before, and the person is signed in.
    case completed(NativeAuthUserAccount)
}

/// A code was sent to the contact that is to be registered.
public struct RegisterStrongAuthVerificationRequiredState: Sendable {
    let flow: NativeFlow

    /// What contacts are challenged with, however often.
    let registrationToken: Secret

    /// What the code is submitted with.
    let token: Secret

    /// What may be registered.
    public let authMethods: [AuthMethod]

    /// Where the code was sent, and how long it is.
    public let delivery: CodeDelivery

    /// The state that contacts are given to.
    package var choice: RegisterStrongAuthState {
        RegisterStrongAuthState(flow: flow, token: registrationToken, authMethods: authMethods)
    }

    /// Has a code sent to another contact, or another code to the same.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func challengeAuthMethod(
        _ method: AuthMethod,
        contact: String
    ) async throws(StepError<RegisterStrongAuthChallengeErrorKind, RegisterStrongAuthVerificationRequiredState>)
        -> RegisterStrongAuthChallengeResult
    {
        do {
            return try await flow.register(contact, as: method, registrationToken, authMethods)
        } catch {
            throw StepError(error.reason, error.endsFlow ? nil : self)
        }
    }

    /// Submits the code that was sent to the contact, and signs in.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitChallenge(
        _ code: Secret
    ) async throws(StepError<RegisterStrongAuthSubmitChallengeErrorKind, RegisterStrongAuthVerificationRequiredState>)
        -> NativeAuthUserAccount
    {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidChallenge), self) }
        do {
            return try await flow.finishRegistration(token, code: code)
        } catch {
            let reason = RegisterStrongAuthSubmitChallengeError(error, in: flow) {
                $0.refusal(at: .registerContinue)?.isInvalidCode == true ? .invalidChallenge : nil
            }
            throw StepError(reason, error.endsFlow || error.isRedirect ? nil : self)
        }
    }
}

/// Why no code was sent to a contact that was to be registered.
public typealias RegisterStrongAuthChallengeError = NativeAuthError<RegisterStrongAuthChallengeErrorKind>

/// The kinds of ``RegisterStrongAuthChallengeError``.
public struct RegisterStrongAuthChallengeErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The contact is empty, or no address or number.
    public static let invalidInput = RegisterStrongAuthChallengeErrorKind(rawValue: "invalidInput")
    /// The contact may not be used.
    public static let verificationContactBlocked = RegisterStrongAuthChallengeErrorKind(
        rawValue: "verificationContactBlocked"
    )

    /// Those of this version; a later one may have more.
    public static let known = [invalidInput, verificationContactBlocked, browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .invalidInput: "correct the contact"
        case .verificationContactBlocked: "the contact is blocked, give another"
        case .browserRequired: "go on in a browser"
        default: "start the sign-in again"
        }
    }
}

extension NativeAuthError<RegisterStrongAuthChallengeErrorKind> {
    /// Whether the contact is not an address of its kind.
    public var isInvalidInput: Bool { kind == .invalidInput }

    /// Whether the contact is blocked.
    public var isVerificationContactBlocked: Bool { kind == .verificationContactBlocked }
}

/// Why a contact was not registered.
public typealias RegisterStrongAuthSubmitChallengeError = NativeAuthError<RegisterStrongAuthSubmitChallengeErrorKind>

/// The kinds of ``RegisterStrongAuthSubmitChallengeError``.
public struct RegisterStrongAuthSubmitChallengeErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The code is wrong, old or empty.
    public static let invalidChallenge = RegisterStrongAuthSubmitChallengeErrorKind(rawValue: "invalidChallenge")

    /// Those of this version; a later one may have more.
    public static let known = [invalidChallenge, browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .invalidChallenge: "enter the newest code, or ask for another"
        case .browserRequired: "go on in a browser"
        default: "start the sign-in again"
        }
    }
}

extension NativeAuthError<RegisterStrongAuthSubmitChallengeErrorKind> {
    /// Whether the code was wrong.
    public var isInvalidChallenge: Bool { kind == .invalidChallenge }
}
