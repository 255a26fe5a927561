public import Foundation
import OAuth
import SignIn
import TokenManagement

/// A token, and whose it is.
public final class MSALResult: Sendable {
    private let token: TokenResult?
    private let idTokenSecret: Secret?

    /// The newest ID token from the access token's tenant, as the issuer signed it.
    public var idToken: String? { idTokenSecret?.reveal() }

    /// The account that the token is for.
    public let account: MSALAccount

    /// Where the token comes from.
    public let authority: MSALAuthority

    /// What the parameters named, else an id of this call for the app's log; issuers are not told.
    public let correlationId: UUID

    /// The access token; empty where the issuer sent none, as for a request of ID-token scopes only.
    public var accessToken: String { token?.accessToken.secret.reveal() ?? "" }

    /// When the access token ends.
    public var expiresOn: Date? { token?.accessToken.expiresAt }

    /// Whether the token is past its end, and good only because the issuer cannot be reached.
    public var extendedLifeTimeToken: Bool { token?.freshness == .extended }

    /// What the access token is good for.
    public var scopes: [String] { token?.scope.tokens ?? [] }

    /// The account as the access token's tenant knows it.
    public let tenantProfile: MSALTenantProfile

    /// The value of an `Authorization` header; empty without an access token.
    public var authorizationHeader: String { token?.authorizationHeader.reveal() ?? "" }

    /// `Bearer`.
    public var authenticationScheme: String { token?.accessToken.authorizationScheme ?? "Bearer" }

    /// A sign-in; `others` are the claims of what the store has besides its ID token.
    convenience init(_ result: AuthenticationResult, others: [Claims], correlationID: UUID?) throws {
        try self.init(
            result.token,
            of: result.account,
            idToken: result.idToken,
            claims: [result.idToken.claims] + others,
            authority: result.authority,
            correlationID: correlationID
        )
    }

    init(
        _ token: TokenResult?,
        of account: Account,
        idToken: IDToken?,
        claims: [Claims],
        authority: Authority,
        correlationID: UUID?
    ) throws {
        self.token = token
        self.account = MSALAccount(account, claims: claims)
        idTokenSecret = idToken?.secret
        self.authority = try MSALAuthority(authority)
        correlationId = correlationID ?? UUID()
        let profile =
            account.tenantProfile(for: token?.accessToken)
            ?? TenantProfile(tenantID: account.utid ?? "", localAccountID: account.uid, isHome: true)
        tenantProfile = MSALTenantProfile(profile, of: account, claims: claims)
    }
}
