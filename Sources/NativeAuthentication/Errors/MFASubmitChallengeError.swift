/// Why the code of a second factor was not taken.
public typealias MFASubmitChallengeError = NativeAuthError<MFASubmitChallengeErrorKind>

/// The kinds of ``MFASubmitChallengeError``.
public enum MFASubmitChallengeErrorKind: String, NativeAuthErrorKind {
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

extension NativeAuthError<MFASubmitChallengeErrorKind> {
    public var isInvalidChallenge: Bool { kind == .invalidChallenge }
}
