/// Why a sign-up did not begin.
public typealias SignUpStartError = NativeAuthError<SignUpStartErrorKind>

/// The kinds of ``SignUpStartError``.
public enum SignUpStartErrorKind: String, NativeAuthErrorKind {
    /// Another account has the username.
    case userAlreadyExists
    /// The username is empty, or not one that the tenant takes.
    case invalidUsername
    /// The password is not one that the tenant takes.
    case invalidPassword
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .userAlreadyExists: "sign in, or choose another username"
        case .invalidUsername: "correct the username"
        case .invalidPassword: "choose another password"
        case .browserRequired: "go on in a browser"
        case .generalError: "start the sign-up again"
        }
    }
}

extension NativeAuthError<SignUpStartErrorKind> {
    public var isUserAlreadyExists: Bool { kind == .userAlreadyExists }
    public var isInvalidUsername: Bool { kind == .invalidUsername }
    public var isInvalidPassword: Bool { kind == .invalidPassword }
}

/// Why attributes were not taken.
public typealias AttributesRequiredError = NativeAuthError<AttributesRequiredErrorKind>

/// The kinds of ``AttributesRequiredError``.
public enum AttributesRequiredErrorKind: String, NativeAuthErrorKind {
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .browserRequired: "go on in a browser"
        case .generalError: "start the sign-up again"
        }
    }
}
