import Foundation

/// One journey through the pages, from the request that opened it to its end.
struct Interaction: Sendable {
    /// Where the journey leads.
    enum Goal: Sendable {
        case authorize(AuthorizationRequest)
        /// The device code may still be unknown.
        case device(userCode: String?)
    }

    /// The page that was shown last.
    enum Step: Sendable {
        case signIn
        case chooseAccount([User])
        case code(AuthMethod, CodePurpose)
        case signUp
        case resetAddress
        case resetPassword(userID: String)
        case editProfile(SignedIn)
        case consent(SignedIn, [String])
        case deviceCode
        case approveDevice(SignedIn)
    }

    /// What the right code leads to.
    enum CodePurpose: Sendable {
        case signIn(userID: String)
        case secondFactor(SignedIn)
        case signUp(email: String, password: PasswordHash?, attributes: [String: String])
        case resetPassword(userID: String)

        var name: String {
            switch self {
            case .signIn: "sign-in"
            case .secondFactor: "second factor"
            case .signUp: "sign-up"
            case .resetPassword: "password reset"
            }
        }
    }

    let id: String
    /// Binds the journey to the browser that began it.
    let browser: Fingerprint
    let realm: Realm
    let client: Client?
    let goal: Goal
    var step: Step
    var codes = OneTimeCodes()
    let expires: Date
}
