/// Why a password reset did not begin.
public typealias ResetPasswordStartError = NativeAuthError<ResetPasswordStartErrorKind>

/// The kinds of ``ResetPasswordStartError``.
public enum ResetPasswordStartErrorKind: String, NativeAuthErrorKind {
    /// Nobody has the username.
    case userNotFound
    /// The username is empty.
    case invalidUsername
    /// The account signs in without a password.
    case userDoesNotHavePassword
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .userNotFound: "check the username, or sign up"
        case .invalidUsername: "give a username"
        case .userDoesNotHavePassword: "sign in with a code"
        case .browserRequired: "go on in a browser"
        case .generalError: "start the reset again"
        }
    }
}

extension NativeAuthError<ResetPasswordStartErrorKind> {
    public var isUserNotFound: Bool { kind == .userNotFound }
    public var isInvalidUsername: Bool { kind == .invalidUsername }
    public var isUserDoesNotHavePassword: Bool { kind == .userDoesNotHavePassword }
}
