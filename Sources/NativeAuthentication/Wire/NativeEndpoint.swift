/// The endpoints of native authentication; the raw value is the path behind the tenant.
enum NativeEndpoint: String, Sendable {
    case signUpStart = "/signup/v1.0/start"
    case signUpChallenge = "/signup/v1.0/challenge"
    case signUpContinue = "/signup/v1.0/continue"
    case initiate = "/oauth2/v2.0/initiate"
    case challenge = "/oauth2/v2.0/challenge"
    case introspect = "/oauth2/v2.0/introspect"
    case token = "/oauth2/v2.0/token"
    case registerIntrospect = "/register/v1.0/introspect"
    case registerChallenge = "/register/v1.0/challenge"
    case registerContinue = "/register/v1.0/continue"
    case resetStart = "/resetpassword/v1.0/start"
    case resetChallenge = "/resetpassword/v1.0/challenge"
    case resetContinue = "/resetpassword/v1.0/continue"
    case resetSubmit = "/resetpassword/v1.0/submit"
    case resetPoll = "/resetpassword/v1.0/poll_completion"

    /// Whether a request whose answer was lost may be sent again: it sends no code, changes no account and spends no
    /// token.
    var hasNoLastingEffect: Bool {
        switch self {
        case .initiate, .introspect, .registerIntrospect, .resetStart, .resetPoll: true
        default: false
        }
    }
}
