import Foundation

/// What a code stands for until it is redeemed, once.
struct AuthorizationCode: Sendable {
    let clientID: String
    let tenantID: String
    let policy: String?
    let redirectURI: String
    let challenge: String?
    let nonce: String?
    let scope: String
    let signedIn: SignedIn
    let expires: Date
    /// The family begun with it; set once it was redeemed.
    var familyID: String?
    var isUsed = false
}
