public import OAuth
package import TokenStorage

/// The tokens of a sign-in, checked and not yet stored.
public struct SignedInTokens: Sendable {
    public let response: TokenResponse

    /// What was asked for, as far as it decides where the answer is stored.
    public let request: TokenRequest
    public let idToken: IDToken

    /// Where they can be kept if the store cannot take them.
    let space: AnswerSpace?

    package init(response: TokenResponse, request: TokenRequest, idToken: IDToken, space: AnswerSpace?) {
        self.response = response
        self.request = request
        self.idToken = idToken
        self.space = space
    }

    /// Whether they are `account`'s: the same one, or the same person at another user flow of its tenant.
    func belong(to account: Account) -> Bool {
        guard let named = AccountIdentity(response, to: request, claims: idToken.claims) else { return false }
        guard request.authority.vouches(for: account.id),
            !account.id.hasIssuer || account.id.authority == idToken.claims.issuer
        else { return false }
        if account.id.named(named.homeAccountID) == account.id { return true }
        guard let uid = named.uid, let utid = named.utid,
            let knownUID = account.uid, utid.folded == account.utid?.folded
        else { return false }
        let (left, right) = (Self.objectID(uid), Self.objectID(knownUID))
        return ClientInfo.isTenantID(left) && left == right
    }

    /// The user's own part of an id that names the user flow behind it.
    private static func objectID(_ uid: String) -> String { String(uid.folded.prefix(36)) }
}
