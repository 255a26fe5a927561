import HTTPTransport
public import OAuth
package import OpenIDConnect
public import TokenManagement
package import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A completed sign-in: who signed in, and the tokens (MSAL's `MSALResult`).
public struct AuthenticationResult: Equatable, Sendable {
    /// The access token; nil if the issuer sent none, as for a request of OpenID's own scopes only.
    public private(set) var token: TokenResult?

    /// Who signed in.
    public let account: Account

    /// What the issuer says of the person.
    public let idToken: IDToken

    /// Where the account signed in.
    public let authority: Authority

    /// What was asked for and not granted.
    public let declinedScope: Scope

    /// Why the store could not take the tokens yet, which are safe in a sealed file beside it; nil if it did.
    public let pendingReason: String?

    /// The result where a session may be no longer than `maximum`.
    func limited(to maximum: Duration?, now: Date) -> AuthenticationResult {
        guard let maximum else { return self }
        var result = self
        result.token = token?.ending(by: now + TimeInterval(maximum.components.seconds))
        return result
    }

    /// The access token that the sign-in brought; nil if it brought none.
    public var accessToken: AccessToken? { token?.accessToken }

    /// What the access token is good for.
    public var scope: Scope { token?.scope ?? Scope([]) }

    /// The account as the access token's tenant knows it.
    public var tenantProfile: TenantProfile? { account.tenantProfile(for: accessToken) }

    /// What the store made of the tokens of a sign-in.
    init(_ saved: SavedTokens, of account: Account, _ signedIn: SignedInTokens) {
        self.account = account
        idToken = signedIn.idToken
        authority = signedIn.request.authority
        declinedScope = saved.declinedScope
        pendingReason = if case .pending(let reason) = saved.outcome { reason } else { nil }
        guard let accessToken = saved.accessToken else {
            token = nil
            return
        }
        var token = TokenResult(accessToken, account: account.id, source: .signIn)
        token.declinedScope = declinedScope
        token.idToken = idToken
        token.pendingReason = pendingReason
        self.token = token
    }

    /// What the store has of a sign-in that was finished before.
    init(_ token: TokenResult?, of account: Account, _ idToken: IDToken, at authority: Authority) {
        (self.token, self.account, self.idToken, self.authority) = (token, account, idToken, authority)
        declinedScope = token?.declinedScope ?? Scope([])
        pendingReason = nil
    }
}

extension Account {
    /// The account as the tenant of an access token knows it, else its first profile.
    package func tenantProfile(for token: AccessToken?) -> TenantProfile? {
        tenantProfiles.first { $0.tenantID == token?.tenantID } ?? tenantProfiles.first
    }
}

/// The tokens of a sign-in, checked and not yet stored.
public struct SignedInTokens: Sendable {
    /// What the issuer answered.
    public let response: TokenResponse

    /// What was asked for, as far as it decides where the answer is stored.
    public let request: TokenRequest

    /// The ID token, which was validated.
    public let idToken: IDToken

    /// Where they can be kept if the store cannot take them.
    let space: AnswerSpace?

    /// What the issuer publishes, as the sign-in fetched it.
    let documents: IssuerDocuments

    /// Who tells the user's name where the ID token does not.
    private let userInfo: UserInfoEndpoint?

    package init(
        response: TokenResponse,
        request: TokenRequest,
        idToken: IDToken,
        documents: IssuerDocuments,
        space: AnswerSpace?,
        userInfo: UserInfoEndpoint? = nil
    ) {
        self.response = response
        self.request = request
        self.idToken = idToken
        self.documents = documents
        self.space = space
        self.userInfo = userInfo
    }

    /// What the issuer says of the user besides the ID token; nil where that has a name.
    func furtherClaims() async -> Claims? {
        guard let userInfo, let subject = idToken.claims.subject else { return nil }
        return await userInfo.claims(of: subject, by: response)
    }

    /// Whether they are `account`'s: the same one, or the same person at another user flow of its tenant.
    func belong(to account: Account) -> Bool {
        guard let named = AccountIdentity(response, to: request, claims: idToken.claims) else { return false }
        guard request.authority.vouches(for: account.id),
            !account.id.hasIssuer
                || request.issuer(of: idToken.claims)?.hasSameBytes(as: account.id.issuer) == true
        else { return false }
        if account.id.named(named.homeAccountID) == account.id { return true }
        // The same person at another user flow of an issuer that names none.
        if named.uid == nil, let plain = named.withoutUserFlow,
            account.id.named(plain.homeAccountID) == account.id.named(ClientInfo.person(account.id.homeAccountID))
        {
            return true
        }
        // An earlier version took `sub` at Microsoft too, where the sign-in was by the address of the issuer.
        if account.uid == nil, let subject = idToken.claims.subject, account.id.named(subject) == account.id {
            return true
        }
        guard let uid = named.uid, let utid = named.utid,
            let knownUID = account.uid, account.utid?.folded.hasSameBytes(as: utid.folded) == true
        else { return false }
        let (left, right) = (Self.objectID(uid), Self.objectID(knownUID))
        return left.isGUID && left == right
    }

    /// The user's own part of an id that names the user flow behind it.
    private static func objectID(_ uid: String) -> String { String(uid.folded.prefix(36)) }
}

extension Issuer {
    /// Who tells the user's name, where an ID token has none.
    ///
    /// What an issuer tells there it need not repeat in the token (OpenID Connect Core §5.4); Microsoft's do.
    func userInfo(
        besides idToken: IDToken,
        _ response: TokenResponse,
        _ key: DPoPKey?,
        now: @escaping @Sendable () -> Date
    ) -> UserInfoEndpoint? {
        guard authority.issuer != nil, !Cloud.contains(authority.environment), idToken.claims.username == nil,
            let url = metadata.userInfoEndpoint
        else { return nil }
        let limits = documents.limits.short
        let bounded = BoundedTransport(transport, end: .now + limits.total)
        let proving = key?.proving(over: bounded, accessToken: response.accessToken, now: now)
        return UserInfoEndpoint(url, transport: proving ?? bounded, limits: limits)
    }
}
