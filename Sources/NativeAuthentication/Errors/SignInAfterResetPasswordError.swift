/// Why nobody was signed in after a reset, which has succeeded all the same.
public typealias SignInAfterResetPasswordError = NativeAuthError<SignInAfterResetPasswordErrorKind>

/// The kinds of ``SignInAfterResetPasswordError``.
public enum SignInAfterResetPasswordErrorKind: String, NativeAuthErrorKind {
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .browserRequired: "go on in a browser"
        case .generalError: "sign in with the new password"
        }
    }
}
