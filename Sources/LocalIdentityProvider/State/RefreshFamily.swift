import Foundation

/// All refresh tokens that descend from one sign-in.
struct RefreshFamily: Sendable {
    let id: String
    let holder: Holder
    let signedIn: SignedIn
    /// OpenID Connect's scopes of the sign-in; an API's are chosen anew at each refresh.
    let scope: String
    let created: Date
    /// The number of the one token that may be used next.
    var current = 0
    var currentIssued: Date
    /// Why the family ended.
    var ended: String?
}
