/// Why a password was not taken.
public typealias PasswordRequiredError = NativeAuthError<PasswordRequiredErrorKind>

/// The kinds of ``PasswordRequiredError``.
public enum PasswordRequiredErrorKind: String, NativeAuthErrorKind {
    /// The password is wrong, empty, or not one that the tenant takes.
    case invalidPassword
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .invalidPassword: "give another password"
        case .browserRequired: "go on in a browser"
        case .generalError: "start again"
        }
    }
}

extension NativeAuthError<PasswordRequiredErrorKind> {
    public var isInvalidPassword: Bool { kind == .invalidPassword }
}
