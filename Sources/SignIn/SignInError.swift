public import HTTPTransport
public import OAuth
public import OpenIDConnect

/// Why a sign-in failed; nothing was stored but for ``declinedScopes(_:)``.
public enum SignInError: Error, Hashable, Sendable {
    /// The request is invalid; no sign-in page was opened.
    case invalidRequest(String)

    /// The redirect URI is invalid: an app cannot be reached by it.
    case invalidRedirectURI(String)

    /// The authority is not among the known ones of the application.
    case unknownAuthority(String)

    /// The person cancelled, or the app did.
    case cancelled

    /// No sign-in was completed within the time limit.
    case timedOut

    /// Another sign-in of the application is under way.
    case alreadyRunning

    /// The person has forgotten the password; start the user flow that sets a new one.
    case forgotPassword(OAuthError)

    /// The issuer refused.
    case refused(OAuthError)

    /// No sign-in was completed within the time limit, but an answer to another request came.
    case stateMismatch

    /// The address that the browser was given was opened twice, so another user of the machine may know the page.
    case openedTwice

    /// The answer is from another issuer than the one asked.
    case otherIssuer(expected: String, found: String)

    /// The response is malformed.
    case invalidAnswer(String)

    /// The tokens came without an ID token, so their account is not known.
    case noIDToken

    /// The issuer sent an ID token that is not valid.
    case invalidIDToken(IDTokenFlaw)

    /// A different account signed in than the one that was requested.
    case accountMismatch

    /// The issuer granted less than all of what was required; the person is signed in, and what was granted is stored.
    case declinedScopes(Scope)

    /// The issuer has no device authorization endpoint.
    case noDeviceEndpoint(String)

    /// The issuer's answer to the request for a device code cannot be used or shown.
    case invalidDeviceAuthorization(DeviceAuthorizationError)

    /// The page cannot be shown.
    case noBrowser(String)

    /// The redirect cannot be received.
    case noListener(String)

    /// The issuer's metadata cannot be used.
    case metadata(MetadataError)

    /// Tokens that are bound to a key cannot be had.
    case dpop(DPoPError)

    case network(HTTPTransportError)
    case unavailable(IssuerUnavailable)

    /// The token endpoint answered with an error that is not an OAuth error.
    case unusableAnswer(UnusableAnswer)
}

extension SignInError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidRequest(let sentence), .invalidRedirectURI(let sentence), .noBrowser(let sentence),
            .noListener(let sentence):
            sentence
        case .unknownAuthority(let url):
            "the authority \(url) is not among those known to the application; add it to the known authorities"
        case .cancelled: "the sign-in was cancelled; nothing was stored, start again when you like"
        case .timedOut: "no sign-in was completed within the time limit; read the message on the page, and start again"
        case .alreadyRunning: "another sign-in is under way; finish or cancel it first"
        case .forgotPassword: "the person asked for a new password; sign in with the user flow that resets it"
        case .refused(let error): "\(error); correct the request or the client's registration"
        case .stateMismatch:
            "no answer came within the time limit but one that belongs to another request and was refused; start again"
        case .openedTwice:
            "the address given to the browser was opened twice, and another user of this machine may have read it; "
                + "start again, and open the page yourself"
        case .otherIssuer(let expected, let found):
            "the answer is from \(found) and not from \(expected); it was refused, start again"
        case .invalidAnswer(let flaw): "the answer \(flaw) and was refused; start again"
        case .noIDToken: "the issuer sent no ID token; check that the client may ask for openid"
        case .invalidIDToken(let flaw): flaw.description
        case .declinedScopes(let scope):
            "the issuer did not grant \(scope.text); ask for less or sign in again to consent"
        case .accountMismatch: "a different account signed in; sign in as the requested account"
        case .noDeviceEndpoint(let issuer):
            "\(issuer) offers no sign-in with a device code; sign in with a browser"
        case .invalidDeviceAuthorization(let error): error.description
        case .metadata(let error): error.description
        case .dpop(let error): error.description
        case .network(let error): error.description
        case .unavailable(let error): error.description
        case .unusableAnswer(let answer): answer.description
        }
    }
}

extension SignInError {
    /// Whether the network or the issuer failed in a way that may pass.
    public var isOutage: Bool {
        switch self {
        case .network(let error): error.isTransient
        case .unavailable: true
        case .refused(let error): [.serverError, .temporarilyUnavailable].contains(error.code)
        default: false
        }
    }

    /// What an error that an issuer answered with means.
    init(_ refusal: OAuthError) {
        let isForgotten = refusal.serverDescription?.contains("AADB2C90118") ?? false
        if isForgotten {
            self = .forgotPassword(refusal)
        } else if refusal.isByPerson {
            self = .cancelled
        } else {
            self = .refused(refusal)
        }
    }

    /// The sign-in error for any error of a step.
    init(wrapping error: any Error) {
        self =
            switch error {
            case let error as SignInError: error
            case is CancellationError: .cancelled
            case let error as HTTPTransportError: .network(error)
            case let error as IssuerUnavailable: .unavailable(error)
            case let error as UnusableAnswer: .unusableAnswer(error)
            case let error as MetadataError: .metadata(error)
            case let error as DPoPError: .dpop(error)
            case let error as IDTokenFlaw: .invalidIDToken(error)
            case let error as OAuthError: SignInError(error)
            case let error as DeviceAuthorizationError: .invalidDeviceAuthorization(error)
            case let error as AuthorityError: .invalidRequest(error.description)
            default: .invalidAnswer("could not be used (\(error))")
            }
    }
}

extension OAuthError {
    /// The words in which issuers say that the person cancelled or refused: OAuth's own, and some others.
    private static let refusals: Set<String> = [
        "access_denied", "authorization_declined", "user_cancelled", "user_cancelled_authorize", "user_cancelled_login",
    ]

    /// Whether the person refused.
    fileprivate var isByPerson: Bool { Self.refusals.contains(code.rawValue) }
}
