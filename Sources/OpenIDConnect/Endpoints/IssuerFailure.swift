public import HTTPTransport
public import OAuth

/// An error that an issuer, or the way to it, may be behind.
public protocol IssuerError: CodedError {
    /// What the issuer, or the way to it, did; nil where neither is the cause.
    var failure: IssuerFailure? { get }
}

extension IssuerError {
    /// What the issuer answered, where it refused.
    public var refusal: OAuthError? {
        switch failure?.kind {
        case .refusal(let error)?: error
        case .dpop(let error)?: error.refusal
        default: nil
        }
    }

    /// Why the network failed.
    public var networkError: HTTPTransportError? { if case .network(let error)? = failure?.kind { error } else { nil } }

    /// What is wrong with the ID token.
    public var idTokenFlaw: IDTokenFlaw? { if case .idToken(let flaw)? = failure?.kind { flaw } else { nil } }

    /// Why tokens that are bound to a key cannot be had.
    public var dpopError: DPoPError? { if case .dpop(let error)? = failure?.kind { error } else { nil } }

    /// How long until the next attempt is welcome, where the issuer says so.
    public var retryAfter: Duration? {
        if case .unavailable(let error)? = failure?.kind { error.retryAfter } else { refusal?.retryAfter }
    }
}

/// What an issuer, or the way to it, did that ended a sign-in or a refresh; the members of ``IssuerError`` tell.
public struct IssuerFailure: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case network(HTTPTransportError)
        case unavailable(IssuerUnavailable)
        case refusal(OAuthError)
        case unusableAnswer(UnusableAnswer)
        case metadata(MetadataError)
        case device(DeviceAuthorizationError)
        case idToken(IDTokenFlaw)
        case dpop(DPoPError)
    }

    package let kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    package var problem: String {
        switch kind {
        case .network(let error): error.problem
        case .unavailable(let error): error.problem
        case .refusal(let error): error.problem
        case .unusableAnswer(let error): error.problem
        case .metadata(let error): error.problem
        case .device(let error): error.problem
        case .idToken(let error): error.problem
        case .dpop(let error): error.problem
        }
    }

    package var remedy: Remedy? {
        switch kind {
        case .network(let error): error.remedy
        case .unavailable(let error): error.remedy
        case .refusal(let error): error.remedy
        case .unusableAnswer(let error): error.remedy
        case .metadata(let error): error.remedy
        case .device(let error): error.remedy
        case .idToken(let error): error.remedy
        case .dpop(let error): error.remedy
        }
    }
}
