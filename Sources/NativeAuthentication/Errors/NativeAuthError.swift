import OAuth
public import SignIn

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a step of native authentication did not succeed; each step has a kind of its own.
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

    /// What stands behind it: an `OAuthError`, a transport's error, or a `TokenStoreError` that carries the tokens.
    public let underlyingError: (any Error)?

    /// The same request for the browser, if ``isBrowserRequired``.
    public let browserRequest: InteractiveRequest?

    /// Whether the rest has to be done in a browser.
    public var isBrowserRequired: Bool { kind == .browserRequired }

    /// The whole sentence.
    public var errorDescription: String? { description }

    /// An error that no answer of a native endpoint is behind.
    init(
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
    init(_ failure: NativeFailure, in flow: NativeFlow, _ judge: (NativeFailure) -> Kind? = { _ in nil }) {
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

extension NativeFailure {
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
