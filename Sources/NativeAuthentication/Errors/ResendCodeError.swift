/// Why no other code was sent.
public typealias ResendCodeError = NativeAuthError<ResendCodeErrorKind>

/// The kinds of ``ResendCodeError``.
public enum ResendCodeErrorKind: String, NativeAuthErrorKind {
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .browserRequired: "go on in a browser"
        case .generalError: "try again in a while"
        }
    }
}
