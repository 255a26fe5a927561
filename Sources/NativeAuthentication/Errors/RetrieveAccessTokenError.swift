/// Why there is no access token.
public typealias RetrieveAccessTokenError = NativeAuthError<RetrieveAccessTokenErrorKind>

/// The kinds of ``RetrieveAccessTokenError``.
public enum RetrieveAccessTokenErrorKind: String, NativeAuthErrorKind {
    /// Nobody is signed in.
    case noAccount
    /// The session has ended.
    case refreshTokenExpired
    /// The scope is reserved, or not one that the issuer grants.
    case invalidScope
    /// The issuer granted less than what was asked for, which is stored.
    case declinedScopes
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .noAccount: "sign in"
        case .refreshTokenExpired: "sign in again"
        case .invalidScope: "correct the scope"
        case .declinedScopes: "ask for less, or sign in again to consent"
        case .browserRequired: "go on in a browser"
        case .generalError: "try again later"
        }
    }
}

extension NativeAuthError<RetrieveAccessTokenErrorKind> {
    public var isNoAccount: Bool { kind == .noAccount }
    public var isRefreshTokenExpired: Bool { kind == .refreshTokenExpired }
    public var isInvalidScope: Bool { kind == .invalidScope }
    public var isScopeDeclined: Bool { kind == .declinedScopes }
}
