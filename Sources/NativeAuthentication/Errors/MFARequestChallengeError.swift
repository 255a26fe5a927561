/// Why no code was sent by a method.
public typealias MFARequestChallengeError = NativeAuthError<MFARequestChallengeErrorKind>

/// The kinds of ``MFARequestChallengeError``.
public enum MFARequestChallengeErrorKind: String, NativeAuthErrorKind {
    /// The method is blocked.
    case authMethodBlocked
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .authMethodBlocked: "choose another method"
        case .browserRequired: "go on in a browser"
        case .generalError: "start the sign-in again"
        }
    }
}

extension NativeAuthError<MFARequestChallengeErrorKind> {
    public var isAuthMethodBlocked: Bool { kind == .authMethodBlocked }
}
