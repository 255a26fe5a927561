/// Why nobody was signed in after a sign-up, which has succeeded all the same.
public typealias SignInAfterSignUpError = NativeAuthError<SignInAfterSignUpErrorKind>

/// The kinds of ``SignInAfterSignUpError``.
public enum SignInAfterSignUpErrorKind: String, NativeAuthErrorKind {
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .browserRequired: "go on in a browser"
        case .generalError: "sign in as usual"
        }
    }
}
