package import OAuth
public import SignIn

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a step of native authentication did not succeed; each step has its own kind.
public struct NativeAuthError<Kind: NativeAuthErrorKind>: Error {
    public let kind: Kind

    /// What went wrong, without what to do about it.
    public let reason: String

    /// What the requests of the flow are marked with, here and at the issuer.
    public let correlationID: UUID

    /// Microsoft's numbers; the first one counts.
    public let errorCodes: [Int64]

    /// Where the issuer explains the error.
    public let errorURI: String?

    /// The issuer's `suberror`, such as `password_too_short`.
    public let suberror: String?

    /// The cause: an `OAuthError`, a transport's error, or a `TokenStoreError` that carries the tokens.
    public let underlyingError: (any Error)?

    /// The same request for the browser, if ``isBrowserRequired``.
    public let browserRequest: InteractiveRequest?

    /// Whether the flow must continue in a browser.
    public var isBrowserRequired: Bool { kind == .browserRequired }

    /// The whole sentence.
    public var errorDescription: String? { description }

    /// An error that no answer of a native endpoint is behind.
    package init(
        _ kind: Kind,
        _ reason: String,
        _ correlationID: UUID,
        refusal: OAuthError? = nil,
        underlying: (any Error)? = nil,
        browserRequest: InteractiveRequest? = nil
    ) {
        self.kind = kind
        self.reason = reason
        self.correlationID = correlationID
        errorCodes = refusal?.numbers ?? []
        errorURI = nil
        suberror = refusal?.suberror
        underlyingError = underlying
        self.browserRequest = browserRequest
    }

    /// What a failed request means; `judge` names the kind of a refusal, nil for a general one.
    init(_ failure: NativeRequestFailure, in flow: NativeFlow, _ judge: (NativeRequestFailure) -> Kind? = { _ in nil })
    {
        correlationID = failure.correlationID
        errorURI = failure.errorURI
        errorCodes = failure.refusal?.numbers ?? []
        suberror = failure.refusal?.suberror
        reason = failure.reason
        switch failure.cause {
        case .redirect:
            kind = .browserRequired
            underlyingError = nil
            browserRequest = flow.browserRequest
            return
        case .refused(let error, _):
            kind = judge(failure) ?? .generalError
            underlyingError = error
        case .failed(let error):
            kind = .generalError
            underlyingError = error
        case .unexpected:
            kind = .generalError
            underlyingError = nil
        }
        browserRequest = nil
    }
}

extension NativeAuthError: CustomStringConvertible {
    public var description: String {
        // Some sentences have their end already.
        if reason.contains("; ") { return reason }
        return "\(reason); \(advice)"
    }

    private var advice: String {
        if errorCodes.contains(50_142) { return "reset the password, then sign in with the new one" }
        return suberror == "provider_blocked_by_rep" ? "the method is blocked, choose another" : kind.advice
    }
}

extension NativeRequestFailure {
    /// What went wrong, in words.
    fileprivate var reason: String {
        switch cause {
        case .redirect(let reason): reason ?? "the issuer wants the rest to be done in a browser"
        case .refused(let error, _): error.description
        case .failed(is CancellationError): "the step was cancelled"
        case .failed(let error): "\(error)"
        case .unexpected(let flaw): "the issuer's answer \(flaw)"
        }
    }
}

/// What an error of a step means for the app; the flags of ``NativeAuthError`` ask for it.
public protocol NativeAuthErrorKind: Hashable, Sendable {
    /// Nothing that the person at the keyboard could put right by other words.
    static var generalError: Self { get }

    /// The flow must continue in a browser.
    static var browserRequired: Self { get }

    /// What to do about it, as the end of a sentence.
    var advice: String { get }
}

/// A step that did not succeed, with the state to go on from where there is one.
///
/// The flags of the error can be asked for directly: `error.isInvalidCode`.
@dynamicMemberLookup
public struct StepError<Kind: NativeAuthErrorKind, State: Sendable>: Error {
    public let error: NativeAuthError<Kind>

    /// The state to go on from; nil: the flow has ended, and is to be begun anew.
    public let state: State?

    init(_ error: NativeAuthError<Kind>, _ state: State?) {
        self.error = error
        self.state = state
    }

    public subscript<Value>(dynamicMember member: KeyPath<NativeAuthError<Kind>, Value>) -> Value {
        error[keyPath: member]
    }
}

extension StepError: CustomStringConvertible {
    public var description: String { error.description }
}

/// Why no other code was sent.
public typealias ResendCodeError = NativeAuthError<ResendCodeErrorKind>

/// The kinds of ``ResendCodeError``.
public enum ResendCodeErrorKind: String, NativeAuthErrorKind {
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .browserRequired: "go on in a browser"
        case .generalError: "try again in a while"
        }
    }
}

/// Why a code was not taken.
public typealias VerifyCodeError = NativeAuthError<VerifyCodeErrorKind>

/// The kinds of ``VerifyCodeError``.
public enum VerifyCodeErrorKind: String, NativeAuthErrorKind {
    /// The code is wrong, old or empty.
    case invalidCode
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .invalidCode: "enter the newest code, or ask for another"
        case .browserRequired: "go on in a browser"
        case .generalError: "start again"
        }
    }
}

extension NativeAuthError<VerifyCodeErrorKind> {
    public var isInvalidCode: Bool { kind == .invalidCode }
}

/// Why a password was not taken.
public typealias PasswordRequiredError = NativeAuthError<PasswordRequiredErrorKind>

/// The kinds of ``PasswordRequiredError``.
public enum PasswordRequiredErrorKind: String, NativeAuthErrorKind {
    /// The password is wrong, empty, or not one that the tenant takes.
    case invalidPassword
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .invalidPassword: "give another password"
        case .browserRequired: "go on in a browser"
        case .generalError: "start again"
        }
    }
}

extension NativeAuthError<PasswordRequiredErrorKind> {
    public var isInvalidPassword: Bool { kind == .invalidPassword }
}
