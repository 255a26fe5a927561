/// Where an account belongs: which authority vouches for it, under which name.
///
/// Microsoft's ids are unique across its hosts, so a group of hosts is the authority. Any other provider's `sub` means
/// something only together with its exact issuer (OpenID Connect Core §2).
package struct AccountIdentity: Hashable, Sendable {
    /// The group of hosts that share accounts, or the exact issuer.
    package let authority: String
    package let homeAccountID: String
    package let environment: String
    package let uid: String?
    package let utid: String?

    package var id: Account.ID { Account.ID(authority: authority, homeAccountID: homeAccountID) }

    /// The account that the answer to `request` names; nil where it names none, or two.
    package init?(_ response: TokenResponse, to request: TokenRequest, claims: Claims?) {
        let clientInfo = ClientInfo(response, to: request, claims: claims)
        if let clientInfo, clientInfo.isContradicted(by: claims) { return nil }
        self.init(clientInfo, to: request, claims: claims)
    }

    /// The same for what its `client_info` says, where that counts and does not contradict the claims.
    package init?(_ clientInfo: ClientInfo?, to request: TokenRequest, claims: Claims?) {
        guard let homeAccountID = clientInfo?.homeAccountID ?? claims?.subject else { return nil }
        self.homeAccountID = homeAccountID
        environment = request.authority.environment
        authority = Self.authority(
            environment: environment,
            isClientInfo: clientInfo != nil,
            issuer: claims?.issuer ?? request.authority.issuer
        )
        uid = clientInfo?.uid
        utid = clientInfo?.utid
    }

    /// The identity of an imported row, whose id is split at its last dot: a user part may hold dots, a tenant not.
    ///
    /// An id that is not the `sub` claim is one that a `client_info` gave.
    package init(homeAccountID: String, environment: String, claims: Claims?, knownAuthority: String?) {
        self.homeAccountID = homeAccountID
        self.environment = environment
        let isMicrosofts = Cloud.contains(environment)
        let parts = ClientInfo.parts(of: homeAccountID)
        let isClientInfo =
            !isMicrosofts && ClientInfo.isShaped(homeAccountID) && claims?.subject?.folded != homeAccountID.folded
            && parts.map { ClientInfo.isBacked(utid: $0.utid, by: claims, at: environment) } ?? false
        authority =
            claims == nil && !isMicrosofts && knownAuthority != nil
            ? knownAuthority ?? environment
            : Self.authority(environment: environment, isClientInfo: isClientInfo, issuer: claims?.issuer)
        let isSplit = isClientInfo || isMicrosofts
        uid = isSplit ? parts?.uid : nil
        utid = isSplit ? parts?.utid : nil
    }

    private static func authority(environment: String, isClientInfo: Bool, issuer: String?) -> String {
        if Cloud.contains(environment) { return Cloud.group(of: environment) }
        guard isClientInfo else { return issuer ?? environment.folded }
        // MSAL for Python drops the port of a host, which its issuer still names.
        let host = issuer?.parts(separatedBy: "/").dropFirst().first?.lowercased() ?? environment.folded
        return host.hasPrefix(environment.folded + ":") ? host : environment.folded
    }

    /// The Azure AD B2C user flow behind the user's id, such as `b2c_1_signin` of `GUID-b2c_1_signin`.
    package var policyOfUID: String? {
        guard let uid = uid?.folded, let range = uid.firstRange(of: "-b2c_1") else { return nil }
        return String(uid[uid.index(after: range.lowerBound)...])
    }
}
