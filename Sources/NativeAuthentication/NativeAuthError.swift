public import OAuth
public import SignIn

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a step of native authentication did not succeed; each step has its own kind.
public struct NativeAuthError<Kind: NativeAuthErrorKind>: CodedError {
    /// The domain of the errors of each kind, such as `NativeAuthentication.VerifyCodeError`.
    public static var domain: String { "NativeAuthentication." + "\(Kind.self)".replacing("ErrorKind", with: "Error") }

    /// What went wrong, for programs.
    public let kind: Kind

    /// The same as ``kind``.
    public var code: Kind { kind }

    /// The same as ``reason``, of bounded length.
    public var problem: String { reason.boundedSentence }

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// The problem, as an alert shows it.
    public var errorDescription: String? { problem }

    /// The problem, and what to do about it: for a log.
    public var description: String { remedy.map { "\(problem); \($0.advice)" } ?? problem }

    /// What went wrong, without what to do about it.
    public let reason: String

    /// What the requests of the flow are marked with, here and at the issuer.
    ///
    /// Requests for access tokens have no mark: the id of a ``RetrieveAccessTokenError`` is known only here.
    public let correlationID: UUID

    /// Microsoft's numbers; the first one counts.
    public let errorCodes: [Int64]

    /// Where the issuer explains the error.
    public let errorURI: String?

    /// The issuer's `suberror`, such as `password_too_short`.
    public let suberror: String?

    /// The cause: an `OAuthError`, a transport's error, or a `TokenStoreError` that carries the tokens.
    public let underlyingError: (any Error)?

    /// The same request for the browser, if ``isBrowserRequired`` or the person has to consent to a scope.
    public let browserRequest: InteractiveRequest?

    /// Whether the issuer says that the flow must continue in a browser.
    public var isBrowserRequired: Bool { kind == .browserRequired }

    /// An error that no answer of a native endpoint is behind.
    package init(
        _ kind: Kind,
        _ reason: String,
        _ correlationID: UUID,
        remedy: Remedy? = nil,
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
        self.remedy = remedy ?? Self.remedy(kind, refusal)
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
        let kind: Kind =
            switch failure.cause {
            case .redirect: .browserRequired
            case .refused: judge(failure) ?? .generalError
            case .failed, .unexpected: .generalError
            }
        self.kind = kind
        // Where the person has to consent to a scope, a general error is all that MSAL says.
        let wantsPage = kind == .browserRequired || kind == .generalError && failure.refusal?.needsPage == true
        remedy = failure.remedy ?? Self.remedy(wantsPage ? .browserRequired : kind, failure.refusal)
        browserRequest = wantsPage ? flow.browserRequest(wanting: failure.refusal?.claims) : nil
        underlyingError =
            switch failure.cause {
            case .refused(let error, _): error
            case .failed(let error): error
            case .redirect, .unexpected: nil
            }
    }
}

extension NativeAuthError {
    /// What helps with an error of `kind` that nothing more is known of.
    fileprivate static func remedy(_ kind: Kind, _ refusal: OAuthError?) -> Remedy {
        if refusal?.needsNewPassword ?? false {
            return .signIn("reset the password, then sign in with the new one")
        }
        if Kind.self == ResendCodeErrorKind.self, refusal?.code == .expiredToken {
            return Remedy(.retry, "start again")
        }
        if kind == .generalError, refusal?.suberror == "provider_blocked_by_rep" {
            return Remedy(.answerAgain, "the method is blocked, choose another")
        }
        if kind == .generalError, refusal?.code == .invalidScope {
            return .correct("check the scopes that are asked for")
        }
        if kind == .generalError, let refusal, ofRegistration.contains(refusal.code) || refusal.isTenantUnknown {
            return Remedy(.checkRegistration, "correct the client id, the authority or the client's registration")
        }
        switch kind {
        case .browserRequired: return Remedy(.useBrowser, kind.advice)
        case .generalError: return Remedy(.retry, kind.advice)
        default: return Remedy(.answerAgain, kind.advice)
        }
    }
}

extension NativeAuthError {
    /// What no other attempt changes.
    private static var ofRegistration: [OAuthError.Code] {
        [.invalidClient, .unauthorizedClient, OAuthError.Code(rawValue: "unsupported_challenge_type")]
    }
}

extension NativeAuthError: Equatable {
    /// Whether both say the same of the same request; what is underneath is not compared.
    public static func == (one: Self, other: Self) -> Bool {
        one.kind == other.kind && one.reason == other.reason && one.remedy == other.remedy
            && one.correlationID == other.correlationID && one.errorCodes == other.errorCodes
            && one.errorURI == other.errorURI && one.suberror == other.suberror
    }
}

extension NativeRequestFailure {
    /// What went wrong, in words.
    fileprivate var reason: String {
        switch cause {
        case .redirect(let reason): reason ?? "the issuer wants the rest to be done in a browser"
        case .refused(let error, _): error.problem
        case .failed(is CancellationError): "the step was cancelled"
        case .failed(let error as any CodedError): error.problem
        case .failed(let error): "\(error)"
        case .unexpected(let flaw, _): "the issuer's answer \(flaw)"
        }
    }

    /// What to do, where the cause knows it.
    fileprivate var remedy: Remedy? {
        if let advice { return advice }
        return switch cause {
        case .failed(let error as any CodedError): error.remedy
        case .unexpected(_, let remedy): remedy
        default: nil
        }
    }
}

/// What an error of a step means for the app; the flags of ``NativeAuthError`` ask for it.
public protocol NativeAuthErrorKind: ErrorCode {
    /// What to do about it, as the end of a sentence.
    var advice: String { get }
}

extension NativeAuthErrorKind {
    /// The flow has to go on in a browser.
    public static var browserRequired: Self { Self(rawValue: "browserRequired") }

    /// What no other kind says: nothing that the person at the keyboard could put right by other words.
    public static var generalError: Self { Self(rawValue: "generalError") }
}

/// A step that did not succeed, with the state to go on from where there is one.
///
/// The flags of the error can be asked for directly: `error.isInvalidCode`.
@dynamicMemberLookup
public struct StepError<Kind: NativeAuthErrorKind, State: Sendable>: CodedError {
    /// The domain of the error as an `NSError`.
    public static var domain: String { NativeAuthError<Kind>.domain }

    /// The error itself.
    public let error: NativeAuthError<Kind>

    /// What went wrong, for programs.
    public var code: Kind { error.kind }

    /// What went wrong, in one sentence without advice.
    public var problem: String { error.problem }

    /// What may help; nil if nothing is known.
    public var remedy: Remedy? { error.remedy }

    /// The problem, as an alert shows it.
    public var errorDescription: String? { error.errorDescription }
    public var description: String { error.description }

    /// The state to go on from; nil: the flow has ended, and is to be begun anew.
    public let state: State?

    init(_ error: NativeAuthError<Kind>, _ state: State?) {
        self.error = error
        self.state = state
    }

    /// A field of the error itself.
    public subscript<Value>(dynamicMember member: KeyPath<NativeAuthError<Kind>, Value>) -> Value {
        error[keyPath: member]
    }
}
