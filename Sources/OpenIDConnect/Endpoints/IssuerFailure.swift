package import HTTPTransport
package import OAuth

/// What an issuer, or the way to it, did that ended a sign-in or a refresh.
package enum IssuerFailure: Hashable, Sendable {
    case network(HTTPTransportError)
    case unavailable(IssuerUnavailable)
    case refusal(OAuthError)
    case unusableAnswer(UnusableAnswer)
    case metadata(MetadataError)
    case device(DeviceAuthorizationError)
    case idToken(IDTokenFlaw)
    case dpop(DPoPError)

    package var problem: String {
        switch self {
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
        switch self {
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
