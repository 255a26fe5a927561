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
        case chooseAccount
        case signInCode(userID: String)
        case secondFactor(SignedIn, AuthMethod)
        case signUp
        case signUpCode(email: String, password: PasswordHash?, attributes: [String: String])
        case resetAddress
        case resetCode(userID: String)
        case resetPassword(userID: String)
        case editProfile(SignedIn)
        case consent(SignedIn, [String])
        case deviceCode
        case approveDevice(SignedIn)
    }

    let id: String
    /// Binds the journey to the browser that began it.
    let browser: Fingerprint
    let realm: Realm
    let client: Client?
    var goal: Goal
    var step: Step
    var code: OneTimeCode?
    var sentCodes = 0
    let expires: Date
}
