import OAuth

/// Why no other code was sent.
public typealias ResendCodeError = NativeAuthError<ResendCodeErrorKind>

/// The kinds of ``ResendCodeError``.
public struct ResendCodeErrorKind: NativeAuthErrorKind {
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
        default: "enter the newest code, or start again"
        }
    }
}

/// Why a code was not taken.
public typealias VerifyCodeError = NativeAuthError<VerifyCodeErrorKind>

/// The kinds of ``VerifyCodeError``.
public struct VerifyCodeErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The code is wrong, old or empty.
    public static let invalidCode = VerifyCodeErrorKind(rawValue: "invalidCode")

    /// Those of this version; a later one may have more.
    public static let known = [invalidCode, browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .invalidCode: "enter the newest code, or ask for another"
        case .browserRequired: "go on in a browser"
        default: "start again"
        }
    }
}

extension NativeAuthError<VerifyCodeErrorKind> {
    /// Whether the code was wrong.
    public var isInvalidCode: Bool { kind == .invalidCode }
}

/// Why a password was not taken.
public typealias PasswordRequiredError = NativeAuthError<PasswordRequiredErrorKind>

/// The kinds of ``PasswordRequiredError``.
public struct PasswordRequiredErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The password is wrong, empty, or not one that the tenant takes.
    public static let invalidPassword = PasswordRequiredErrorKind(rawValue: "invalidPassword")

    /// Those of this version; a later one may have more.
    public static let known = [invalidPassword, browserRequired, generalError]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .invalidPassword: "give another password"
        case .browserRequired: "go on in a browser"
        default: "start again"
        }
    }
}

extension NativeAuthError<PasswordRequiredErrorKind> {
    /// Whether the issuer refuses the password as too weak, or as used before.
    public var isInvalidPassword: Bool { kind == .invalidPassword }
}
