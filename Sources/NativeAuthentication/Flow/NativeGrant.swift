import OAuth

/// What a token request of a native flow offers beside its continuation token.
enum NativeGrant: Sendable {
    case password(Secret)
    case code(Secret)
    case secondFactor(Secret)

    /// After a sign-up or a reset.
    case continuation

    /// After a method was registered.
    case registration

    var name: String {
        switch self {
        case .password: "password"
        case .code: "oob"
        case .secondFactor: "mfa_oob"
        case .continuation, .registration: "continuation_token"
        }
    }

    var credentialName: String {
        if case .password = self { "password" } else { "oob" }
    }

    var credential: Secret? {
        switch self {
        case .password(let secret), .code(let secret), .secondFactor(let secret): secret
        case .continuation, .registration: nil
        }
    }

    var sendsUsername: Bool {
        switch self {
        case .password, .continuation: true
        default: false
        }
    }

    var sendsChallengeTypes: Bool {
        switch self {
        case .password, .continuation, .registration: true
        default: false
        }
    }
}
