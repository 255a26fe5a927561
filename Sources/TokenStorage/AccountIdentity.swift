import OAuth

/// Where an account belongs: which authority vouches for it, under which name.
///
/// Microsoft's ids are unique across its hosts, so a group of hosts is the authority. Any other provider's `sub` means
/// something only together with its exact issuer (OpenID Connect Core §2).
struct AccountIdentity: Hashable {
    /// The group of hosts that share accounts, or the exact issuer.
    let authority: String
    let homeAccountID: String
    let environment: String
    let uid: String?
    let utid: String?

    /// The identity that a token response names.
    init(homeAccountID: String, environment: String, clientInfo: ClientInfo?, authority: () -> String) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.authority = authority()
        uid = clientInfo?.uid
        utid = clientInfo?.utid
    }

    /// The identity of an imported row, whose id is split at its last dot: a user part may hold dots, a tenant not.
    init(homeAccountID: String, environment: String, authority: String, isMicrosoft: Bool) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        self.authority = authority
        let dot = isMicrosoft ? homeAccountID.lastIndex(of: ".") : nil
        uid = dot.map { String(homeAccountID[..<$0]) }
        utid = dot.map { String(homeAccountID[homeAccountID.index(after: $0)...]) }
    }

    var id: Account.ID { Account.ID(authority: authority, homeAccountID: homeAccountID) }

    /// The Azure AD B2C user flow behind the user's id, such as `b2c_1_signin` of `GUID-b2c_1_signin`.
    var policyOfUID: String? {
        guard let uid = uid?.folded, let range = uid.firstRange(of: "-b2c_1") else { return nil }
        return String(uid[uid.index(after: range.lowerBound)...])
    }
}
