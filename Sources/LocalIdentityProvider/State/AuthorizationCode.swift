import Foundation

/// What a code stands for until it is redeemed, once.
struct AuthorizationCode: Sendable {
    let request: AuthorizationRequest
    let signedIn: SignedIn
    let expires: Date
    /// The family begun with it; set once it was redeemed.
    var familyID: String?
    var isUsed = false
}
