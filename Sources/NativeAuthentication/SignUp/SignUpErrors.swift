import OAuth

/// Why a sign-up did not begin.
public typealias SignUpStartError = NativeAuthError<SignUpStartErrorKind>

/// The kinds of ``SignUpStartError``.
public struct SignUpStartErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Another account has the username.
    public static let userAlreadyExists = SignUpStartErrorKind(rawValue: "userAlreadyExists")
    /// The username is empty, or not one that the tenant takes.
    public static let invalidUsername = SignUpStartErrorKind(rawValue: "invalidUsername")
    /// The password is not one that the tenant takes.
    public static let invalidPassword = SignUpStartErrorKind(rawValue: "invalidPassword")

    /// Those of this version; a later one may have more.
    public static let known = [userAlreadyExists, invalidUsername, invalidPassword, browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .userAlreadyExists: "sign in, or choose another username"
        case .invalidUsername: "correct the username"
        case .invalidPassword: "choose another password"
        case .browserRequired: "go on in a browser"
        default: "start the sign-up again"
        }
    }
}

extension NativeAuthError<SignUpStartErrorKind> {
    /// Whether there is such a user already.
    public var isUserAlreadyExists: Bool { kind == .userAlreadyExists }

    /// Whether the issuer takes no such text for a user name.
    public var isInvalidUsername: Bool { kind == .invalidUsername }

    /// Whether the issuer refuses the password as too weak, or as used before.
    public var isInvalidPassword: Bool { kind == .invalidPassword }
}

/// Why attributes were not taken.
public typealias AttributesRequiredError = NativeAuthError<AttributesRequiredErrorKind>

/// The kinds of ``AttributesRequiredError``.
public struct AttributesRequiredErrorKind: NativeAuthErrorKind {
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
        default: "start the sign-up again"
        }
    }
}
