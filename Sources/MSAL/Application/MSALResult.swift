public import Foundation
import OAuth
import SignIn
import TokenManagement

/// A token, and whose it is.
public final class MSALResult: Sendable {
    private let result: AuthenticationResult

    /// The account that the token is for.
    public let account: MSALAccount

    /// Where the token comes from.
    public let authority: MSALAuthority

    /// What the parameters named, else an id of this call for the app's log; issuers are not told.
    public let correlationId: UUID

    /// The access token; empty where the issuer sent none, as for a request of ID-token scopes only.
    public var accessToken: String { result.accessToken?.secret.reveal() ?? "" }

    /// When the access token ends.
    public var expiresOn: Date? { result.accessToken?.expiresAt }

    /// Whether the token is past its end, and good only because the issuer cannot be reached.
    public var extendedLifeTimeToken: Bool { result.freshness == .extended }

    /// The newest ID token of the account, as the issuer signed it.
    public var idToken: String? { result.idToken?.secret.reveal() }

    /// What the access token is good for.
    public var scopes: [String] { result.scope.tokens }

    /// The account as the access token's tenant knows it.
    public let tenantProfile: MSALTenantProfile

    /// The value of an `Authorization` header; empty without an access token.
    public var authorizationHeader: String { result.authorizationHeader?.reveal() ?? "" }

    /// `Bearer`.
    public var authenticationScheme: String { result.accessToken?.authorizationScheme ?? "Bearer" }

    init(_ result: AuthenticationResult, correlationID: UUID?) throws {
        self.result = result
        account = MSALAccount(result.account, claims: result.idToken?.claims)
        authority = try MSALAuthority(result.authority)
        correlationId = correlationID ?? UUID()
        let profile =
            result.tenantProfile
            ?? TenantProfile(tenantID: result.account.utid ?? "", localAccountID: result.account.uid, isHome: true)
        tenantProfile = MSALTenantProfile(profile, of: result.account, claims: result.idToken?.claims)
    }
}
