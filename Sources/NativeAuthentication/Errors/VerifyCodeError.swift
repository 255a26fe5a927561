/// Why a code was not taken.
public typealias VerifyCodeError = NativeAuthError<VerifyCodeErrorKind>

/// The kinds of ``VerifyCodeError``.
public enum VerifyCodeErrorKind: String, NativeAuthErrorKind {
    /// The code is wrong, old or empty.
    case invalidCode
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .invalidCode: "enter the newest code, or ask for another"
        case .browserRequired: "go on in a browser"
        case .generalError: "start again"
        }
    }
}

extension NativeAuthError<VerifyCodeErrorKind> {
    public var isInvalidCode: Bool { kind == .invalidCode }
}
