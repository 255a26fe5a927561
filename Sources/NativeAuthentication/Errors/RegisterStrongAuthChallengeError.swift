/// Why no code was sent to a contact that was to be registered.
public typealias RegisterStrongAuthChallengeError = NativeAuthError<RegisterStrongAuthChallengeErrorKind>

/// The kinds of ``RegisterStrongAuthChallengeError``.
public enum RegisterStrongAuthChallengeErrorKind: String, NativeAuthErrorKind {
    /// The contact is empty, or no address or number.
    case invalidInput
    /// The contact may not be used.
    case verificationContactBlocked
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .invalidInput: "correct the contact"
        case .verificationContactBlocked: "give another contact"
        case .browserRequired: "go on in a browser"
        case .generalError: "start the sign-in again"
        }
    }
}

extension NativeAuthError<RegisterStrongAuthChallengeErrorKind> {
    public var isInvalidInput: Bool { kind == .invalidInput }
    public var isVerificationContactBlocked: Bool { kind == .verificationContactBlocked }
}
