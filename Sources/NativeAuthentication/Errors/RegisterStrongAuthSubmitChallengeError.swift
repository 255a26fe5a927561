/// Why a contact was not registered.
public typealias RegisterStrongAuthSubmitChallengeError = NativeAuthError<RegisterStrongAuthSubmitChallengeErrorKind>

/// The kinds of ``RegisterStrongAuthSubmitChallengeError``.
public enum RegisterStrongAuthSubmitChallengeErrorKind: String, NativeAuthErrorKind {
    /// The code is wrong, old or empty.
    case invalidChallenge
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .invalidChallenge: "enter the newest code, or ask for another"
        case .browserRequired: "go on in a browser"
        case .generalError: "start the sign-in again"
        }
    }
}

extension NativeAuthError<RegisterStrongAuthSubmitChallengeErrorKind> {
    public var isInvalidChallenge: Bool { kind == .invalidChallenge }
}
