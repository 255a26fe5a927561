import HTTPTransport
import NativeAuthentication
import OAuth
import OpenIDConnect
import SignIn
import TokenStorage

/// A step of native authentication that of any kind did not succeed.
protocol NativeRefusal: Error, CustomStringConvertible {
    /// What went wrong, without what to do about it.
    var reason: String { get }

    /// What to do about it.
    var remedy: Remedy? { get }

    /// The state to go on from, where there is one.
    var nextState: (any Sendable)? { get }

    /// Whether another answer of the person may be taken.
    var isAboutAnswer: Bool { get }

    /// Whether the issuer knows no user of the name, or takes no such name.
    var isAboutUsername: Bool { get }
    var underlyingError: (any Error)? { get }

    /// What the issuer adds to its error.
    var suberror: String? { get }

    /// The request to continue with, if the issuer requires a browser.
    var browserRequest: InteractiveRequest? { get }
}

extension NativeRefusal {
    /// The issuer's answer, where it refused.
    var answer: OAuthError? { underlyingError as? OAuthError }

    /// Whether the person has to choose a new password first.
    var needsNewPassword: Bool { answer?.needsNewPassword ?? false }

    /// Whether the issuer binds tokens to a key, which no step here shows.
    var wantsKey: Bool {
        let dpopError = underlyingError as? DPoPError ?? (underlyingError as? SignInError)?.dpopError
        return answer?.isAboutProof ?? (dpopError?.code == .unaskedBinding)
    }

    /// Whether the network or the issuer failed in a way that may pass.
    var isOutage: Bool {
        switch underlyingError {
        case let error as HTTPTransportError: error.isTransient
        case is IssuerUnavailable: true
        case let error as SignInError: error.isOutage
        case let error as OAuthError: [.serverError, .temporarilyUnavailable].contains(error.code)
        default: false
        }
    }
}

extension NativeAuthError: NativeRefusal {
    var nextState: (any Sendable)? { nil }

    var isAboutUsername: Bool {
        // 90100 is for every parameter, of which the name is the one that a person gives.
        ["userNotFound", "invalidUsername"].contains(kind.rawValue) || errorCodes.first == 90_100
    }

    var isAboutAnswer: Bool {
        // A code that could not be sent leaves those before it good, unless the rest is to be done in a browser.
        let mayResend = Kind.self == ResendCodeErrorKind.self && (underlyingError as? OAuthError)?.code != .expiredToken
        return browserRequest == nil && (mayResend || kind != .generalError)
    }
}

extension StepError: NativeRefusal {
    var reason: String { error.reason }
    var nextState: (any Sendable)? { state }
    var isAboutAnswer: Bool { error.isAboutAnswer }
    var isAboutUsername: Bool { error.isAboutUsername }
    var underlyingError: (any Error)? { error.underlyingError }
    var suberror: String? { error.suberror }
    var browserRequest: InteractiveRequest? { error.browserRequest }
}

extension CommandFailure {
    /// Why a step of native authentication did not succeed.
    init(_ refusal: any NativeRefusal) {
        switch refusal.underlyingError {
        case let error as TokenStoreError: self.init(error as any Error)
        case _ where refusal.browserRequest != nil:
            self.init(.interactionRequired, refusal.reason, refusal.remedy?.hint)
        default: self.init(refusal.isOutage ? .network : .failure, refusal.reason, refusal.remedy?.hint)
        }
        facts.take(suberror: refusal.suberror, (refusal.underlyingError as? IssuerUnavailable)?.retryAfter)
    }
}
