public import OAuth
public import TokenManagement
package import TokenStorage

/// The result of a token request, interactive or silent (MSAL's `MSALResult`).
public struct AuthenticationResult: Sendable {
    /// nil where the issuer sent none, as for a request of ID-token scopes only.
    public let accessToken: AccessToken?
    public let account: Account

    /// The newest ID token of the account.
    public let idToken: IDToken?
    public let authority: Authority
    public let source: TokenResult.Source
    public var freshness = TokenResult.Freshness.fresh

    /// What was asked for and not granted.
    public var declinedScope: Scope

    /// Why the store could not take the tokens yet, which are safe in a sealed file beside it; nil where it did.
    public var pendingReason: String?

    /// A refresh was tried, or throttled, and failed in a way that may pass.
    public var refreshFailed = false

    /// Someone will have to sign in once the access token has ended.
    public var interactionSoon = false

    /// What the access token is good for.
    public var scope: Scope { accessToken?.scope ?? Scope([]) }

    /// The value of an `Authorization` header.
    public var authorizationHeader: Secret? {
        accessToken.map { Secret("\($0.authorizationScheme) \($0.secret.reveal())") }
    }

    /// The account as the access token's tenant knows it.
    public var tenantProfile: TenantProfile? {
        let tenantID = accessToken?.tenantID
        return account.tenantProfiles.first { $0.tenantID == tenantID } ?? account.tenantProfiles.first
    }
}

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
            !account.id.hasIssuer || account.id.issuer == idToken.claims.issuer
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
