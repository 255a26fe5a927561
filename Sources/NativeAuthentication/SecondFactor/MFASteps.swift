public import OAuth

/// A second factor is required; the person chooses by which method the code comes.
public struct AwaitingMFAState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// The person's methods.
    public let authMethods: [AuthMethod]

    /// Has a code sent by one of the methods.
    ///
    /// - Throws: the error, with this state to choose another method from where that can be.
    public func requestChallenge(
        _ method: AuthMethod
    ) async throws(StepError<MFARequestChallengeErrorKind, AwaitingMFAState>) -> MFARequiredState {
        do {
            return try await flow.secondFactor(method, token, authMethods)
        } catch {
            throw StepError(flow.challengeError(error), error.endsFlow ? nil : self)
        }
    }
}

/// A code for the second factor was sent.
public struct MFARequiredState: Sendable {
    let flow: NativeFlow

    /// What methods are chosen with, however often.
    let methodsToken: Secret

    /// What the code is submitted with.
    let token: Secret

    /// The person's methods.
    public let authMethods: [AuthMethod]

    /// Where the code was sent, and how long it is.
    public let delivery: CodeDelivery

    /// Has a code sent, by the same method or another; those before it are good no more.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func requestChallenge(
        _ method: AuthMethod
    ) async throws(StepError<MFARequestChallengeErrorKind, MFARequiredState>) -> MFARequiredState {
        do {
            return try await flow.secondFactor(method, methodsToken, authMethods)
        } catch {
            throw StepError(flow.challengeError(error), error.endsFlow ? nil : self)
        }
    }

    /// Submits the code that the person received.
    ///
    /// - Throws: the error, with this state for another try where there is one.
    public func submitChallenge(
        _ code: Secret
    ) async throws(StepError<MFASubmitChallengeErrorKind, MFARequiredState>) -> NativeAuthUserAccount {
        guard code.count > 0 else { throw StepError(flow.emptyCode(.invalidChallenge), self) }
        do {
            return try await flow.tokens(.secondFactor(code), token)
        } catch {
            let reason = MFASubmitChallengeError(error, in: flow) {
                $0.refusal?.isInvalidCode == true ? .invalidChallenge : nil
            }
            // Asked for yet another factor, the issuer has moved on to where no state leads.
            let isAskedAgain = error.refusal?.furtherFactor != nil && error.continuationToken != nil
            throw StepError(reason, error.endsFlow || isAskedAgain ? nil : self)
        }
    }
}

extension NativeFlow {
    /// Has a code for the second factor sent; `token` is good for any number of methods.
    func secondFactor(
        _ method: AuthMethod,
        _ token: Secret,
        _ methods: [AuthMethod]
    ) async throws(NativeRequestFailure) -> MFARequiredState {
        let (delivery, next) = try await code(.challenge, token, method: method)
        return MFARequiredState(
            flow: self,
            methodsToken: token,
            token: next,
            authMethods: methods,
            delivery: delivery
        )
    }

    func challengeError(_ failure: NativeRequestFailure) -> MFARequestChallengeError {
        MFARequestChallengeError(failure, in: self) { $0.refusal?.isBlocked == true ? .authMethodBlocked : nil }
    }
}

/// Why no code was sent by a method.
public typealias MFARequestChallengeError = NativeAuthError<MFARequestChallengeErrorKind>

/// The kinds of ``MFARequestChallengeError``.
public struct MFARequestChallengeErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The method is blocked.
    public static let authMethodBlocked = MFARequestChallengeErrorKind(rawValue: "authMethodBlocked")

    /// Those of this version; a later one may have more.
    public static let known = [authMethodBlocked, browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .authMethodBlocked: "the method is blocked, choose another"
        case .browserRequired: "go on in a browser"
        default: "start the sign-in again"
        }
    }
}

extension NativeAuthError<MFARequestChallengeErrorKind> {
    /// Whether the method is blocked for this user.
    public var isAuthMethodBlocked: Bool { kind == .authMethodBlocked }
}

/// Why the code of a second factor was not taken.
public typealias MFASubmitChallengeError = NativeAuthError<MFASubmitChallengeErrorKind>

/// The kinds of ``MFASubmitChallengeError``.
public struct MFASubmitChallengeErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The code is wrong, old or empty.
    public static let invalidChallenge = MFASubmitChallengeErrorKind(rawValue: "invalidChallenge")

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

extension NativeAuthError<MFASubmitChallengeErrorKind> {
    /// Whether the code was wrong.
    public var isInvalidChallenge: Bool { kind == .invalidChallenge }
}
