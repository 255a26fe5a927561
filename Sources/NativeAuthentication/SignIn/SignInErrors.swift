import OAuth

/// Why a sign-in did not begin, or did not succeed with the password it began with.
public typealias SignInStartError = NativeAuthError<SignInStartErrorKind>

/// The kinds of ``SignInStartError``.
public struct SignInStartErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No account has the username.
    public static let userNotFound = SignInStartErrorKind(rawValue: "userNotFound")
    /// The username is empty.
    public static let invalidUsername = SignInStartErrorKind(rawValue: "invalidUsername")
    /// The password is wrong, or empty.
    public static let invalidCredentials = SignInStartErrorKind(rawValue: "invalidCredentials")

    /// Those of this version; a later one may have more.
    public static let known = [userNotFound, invalidUsername, invalidCredentials, browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .userNotFound: "check the username, or sign up"
        case .invalidUsername: "give a username"
        case .invalidCredentials: "check the username and the password"
        case .browserRequired: "go on in a browser"
        default: "start the sign-in again"
        }
    }
}

extension NativeAuthError<SignInStartErrorKind> {
    /// Whether the issuer knows no user of that name.
    public var isUserNotFound: Bool { kind == .userNotFound }

    /// Whether the issuer takes no such text for a user name.
    public var isInvalidUsername: Bool { kind == .invalidUsername }

    /// Whether the user name or the password is wrong.
    public var isInvalidCredentials: Bool { kind == .invalidCredentials }
}

/// Why the sign-in after a sign-up failed; the sign-up itself succeeded.
public typealias SignInAfterSignUpError = NativeAuthError<SignInAfterSignUpErrorKind>

/// The kinds of ``SignInAfterSignUpError``.
public struct SignInAfterSignUpErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Those of this version; a later one may have more.
    public static let known = [browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .browserRequired: "go on in a browser"
        default: "sign in as usual"
        }
    }
}

/// Why the sign-in after a reset failed; the reset itself succeeded.
public typealias SignInAfterResetPasswordError = NativeAuthError<SignInAfterResetPasswordErrorKind>

/// The kinds of ``SignInAfterResetPasswordError``.
public struct SignInAfterResetPasswordErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Those of this version; a later one may have more.
    public static let known = [browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .browserRequired: "go on in a browser"
        default: "sign in with the new password"
        }
    }
}
