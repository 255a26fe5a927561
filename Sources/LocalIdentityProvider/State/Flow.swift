import Foundation

/// One native sign-in, sign-up or reset on its way.
struct Flow: Sendable {
    /// What the client has to do next, and so where its continuation token is good.
    enum Step: Sendable {
        case signIn, password, code, secondFactor, registration
        case signUp, signUpCode, signUpPassword, signUpAttributes
        case reset, resetCode, newPassword, resetting
        /// Proved enough for tokens.
        case tokens

        var routes: Set<Route> {
            switch self {
            case .signIn: [.challenge]
            case .password, .code: [.challenge, .token]
            case .secondFactor: [.challenge, .introspect, .token]
            case .registration: [.registerIntrospect, .registerChallenge, .registerContinue]
            case .signUp: [.signUpChallenge]
            case .signUpCode, .signUpPassword: [.signUpChallenge, .signUpContinue]
            case .signUpAttributes: [.signUpContinue]
            case .reset: [.resetChallenge]
            case .resetCode: [.resetChallenge, .resetContinue]
            case .newPassword: [.resetSubmit]
            case .resetting: [.resetPoll]
            case .tokens: [.token]
            }
        }
    }

    let id = RandomToken.make()
    let holder: Holder
    let username: String
    /// Nil until a sign-up has made the user.
    var userID: String?
    let capabilities: Set<String>
    let expires: Date
    var step: Step
    /// Grows whenever the flow moves on.
    var stage = 0

    var password: PasswordHash?
    var attributes: [String: String] = [:]
    /// The scopes and claims of the request that asked for a second factor.
    var scope: String?
    var claims: String?
    /// Addresses whose code was entered in this flow.
    var verified: Set<String> = []
    /// How the person signed in so far (RFC 8176).
    var methods: [String] = []
    var contact: AuthMethod?

    /// The contact was verified in this flow already.
    var isPreverified: Bool { contact.map { verified.contains($0.target) } ?? false }
}
