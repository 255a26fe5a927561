/// Why a sign-in did not begin, or did not succeed with the password it began with.
public typealias SignInStartError = NativeAuthError<SignInStartErrorKind>

/// The kinds of ``SignInStartError``.
public enum SignInStartErrorKind: String, NativeAuthErrorKind {
    /// No account has the username.
    case userNotFound
    /// The username is empty.
    case invalidUsername
    /// The password is wrong, or empty.
    case invalidCredentials
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .userNotFound: "check the username, or sign up"
        case .invalidUsername: "give a username"
        case .invalidCredentials: "check the username and the password"
        case .browserRequired: "go on in a browser"
        case .generalError: "start the sign-in again"
        }
    }
}

extension NativeAuthError<SignInStartErrorKind> {
    public var isUserNotFound: Bool { kind == .userNotFound }
    public var isInvalidUsername: Bool { kind == .invalidUsername }
    public var isInvalidCredentials: Bool { kind == .invalidCredentials }
}

/// Why the sign-in after a sign-up failed; the sign-up itself succeeded.
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

/// Why the sign-in after a reset failed; the reset itself succeeded.
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
