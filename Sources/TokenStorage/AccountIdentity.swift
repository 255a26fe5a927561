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
    init(homeAccountID: String, environment: String, clientInfo: ClientInfo?, issuer: String?) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        authority = Self.authority(environment: environment, isClientInfo: clientInfo != nil, issuer: issuer)
        uid = clientInfo?.uid
        utid = clientInfo?.utid
    }

    /// The identity of an imported row, whose id is split at its last dot: a user part may hold dots, a tenant not.
    ///
    /// An id that is not the `sub` claim is one that a `client_info` gave.
    init(homeAccountID: String, environment: String, claims: Claims?, knownAuthority: String?) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        let isClientInfo =
            claims?.subject.map { $0.folded != homeAccountID.folded } ?? ClientInfo.isShaped(homeAccountID)
        authority =
            claims == nil && !Cloud.contains(environment) && knownAuthority != nil
            ? knownAuthority ?? environment
            : Self.authority(environment: environment, isClientInfo: isClientInfo, issuer: claims?.issuer)
        let dot = isClientInfo || Cloud.contains(environment) ? homeAccountID.lastIndex(of: ".") : nil
        uid = dot.map { String(homeAccountID[..<$0]) }
        utid = dot.map { String(homeAccountID[homeAccountID.index(after: $0)...]) }
    }

    private static func authority(environment: String, isClientInfo: Bool, issuer: String?) -> String {
        if Cloud.contains(environment) { return Cloud.group(of: environment) }
        guard isClientInfo else { return issuer ?? environment.folded }
        // MSAL for Python drops the port of a host, which its issuer still names.
        let host = issuer?.split(separator: "/").dropFirst().first?.lowercased() ?? environment.folded
        return host.hasPrefix(environment.folded + ":") ? host : environment.folded
    }

    var id: Account.ID { Account.ID(authority: authority, homeAccountID: homeAccountID) }

    /// The Azure AD B2C user flow behind the user's id, such as `b2c_1_signin` of `GUID-b2c_1_signin`.
    var policyOfUID: String? {
        guard let uid = uid?.folded, let range = uid.firstRange(of: "-b2c_1") else { return nil }
        return String(uid[uid.index(after: range.lowerBound)...])
    }
}
