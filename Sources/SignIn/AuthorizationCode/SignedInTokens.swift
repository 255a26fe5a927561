public import OAuth

/// The tokens of a sign-in, checked and not yet stored.
public struct SignedInTokens: Sendable {
    public let response: TokenResponse

    /// What was asked for, as far as it decides where the answer is stored.
    public let request: TokenRequest
    public let idToken: IDToken

    package init(response: TokenResponse, request: TokenRequest, idToken: IDToken) {
        self.response = response
        self.request = request
        self.idToken = idToken
    }

    /// The name of the account at its authority.
    var homeAccountID: String? {
        response.clientInfo.flatMap(ClientInfo.init(decoding:))?.homeAccountID ?? idToken.claims.subject
    }

    /// Whether they are `account`'s: the same one, or the same person at another user flow of its tenant.
    func belong(to account: Account) -> Bool {
        if account.id.authority.contains("://"), account.id.authority != idToken.claims.issuer { return false }
        if homeAccountID?.lowercased() == account.id.homeAccountID.lowercased() { return true }
        guard let info = response.clientInfo.flatMap(ClientInfo.init(decoding:)), let uid = account.uid,
            let utid = account.utid, info.utid.lowercased() == utid.lowercased()
        else { return false }
        let (left, right) = (Self.objectID(info.uid), Self.objectID(uid))
        return ClientInfo.isTenantID(left) && left == right
    }

    /// The user's own part of an id that names the user flow behind it.
    private static func objectID(_ uid: String) -> String { String(uid.lowercased().prefix(36)) }
}
