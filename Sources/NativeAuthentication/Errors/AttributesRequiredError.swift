/// Why attributes were not taken.
public typealias AttributesRequiredError = NativeAuthError<AttributesRequiredErrorKind>

/// The kinds of ``AttributesRequiredError``.
public enum AttributesRequiredErrorKind: String, NativeAuthErrorKind {
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .browserRequired: "go on in a browser"
        case .generalError: "start the sign-up again"
        }
    }
}
