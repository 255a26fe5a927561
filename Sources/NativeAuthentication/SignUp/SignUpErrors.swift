import OAuth

/// Why a sign-up did not begin.
public typealias SignUpStartError = NativeAuthError<SignUpStartErrorKind>

/// The kinds of ``SignUpStartError``.
public struct SignUpStartErrorKind: NativeAuthErrorKind {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Another account has the username.
    public static let userAlreadyExists = SignUpStartErrorKind(rawValue: "userAlreadyExists")
    /// The username is empty, or not one that the tenant takes.
    public static let invalidUsername = SignUpStartErrorKind(rawValue: "invalidUsername")
    /// The password is not one that the tenant takes.
    public static let invalidPassword = SignUpStartErrorKind(rawValue: "invalidPassword")
    public static let browserRequired = SignUpStartErrorKind(rawValue: "browserRequired")
    public static let generalError = SignUpStartErrorKind(rawValue: "generalError")

    public static let known = [userAlreadyExists, invalidUsername, invalidPassword, browserRequired, generalError]

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
    public var isUserAlreadyExists: Bool { kind == .userAlreadyExists }
    public var isInvalidUsername: Bool { kind == .invalidUsername }
    public var isInvalidPassword: Bool { kind == .invalidPassword }
}

/// Why attributes were not taken.
public typealias AttributesRequiredError = NativeAuthError<AttributesRequiredErrorKind>

/// The kinds of ``AttributesRequiredError``.
public struct AttributesRequiredErrorKind: NativeAuthErrorKind {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let browserRequired = AttributesRequiredErrorKind(rawValue: "browserRequired")
    public static let generalError = AttributesRequiredErrorKind(rawValue: "generalError")

    public static let known = [browserRequired, generalError]

    public var advice: String {
        switch self {
        case .browserRequired: "go on in a browser"
        default: "start the sign-up again"
        }
    }
}
