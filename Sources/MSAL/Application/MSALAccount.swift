package import OAuth

/// An account that is signed in.
public final class MSALAccount: Hashable, Sendable {
    package let account: Account

    /// Those of this client's ID tokens, the newest first.
    private let claims: [Claims]

    package init(_ account: Account, claims: [Claims]) {
        self.account = account
        self.claims = claims
    }

    /// The name that the issuer gave, such as an e-mail address.
    public var username: String? { account.username.isEmpty ? nil : account.username }

    /// The home account id.
    public var identifier: String? { account.id.homeAccountID }

    /// The host of the authority.
    public var environment: String { account.environment }

    /// The home account id and its parts; for a user flow, the name of the flow ends the object id.
    public var homeAccountId: MSALAccountId? { MSALAccountId(account) }

    /// Every claim of the newest ID token that this client has of the home tenant; elsewhere than at Microsoft's, of the
    /// newest one.
    public var accountClaims: [String: Any]? {
        claims.first { account.utid == nil || $0.isOf(account.utid, isHome: true) }?.payload.dictionary
    }

    /// The account as each tenant knows it.
    public var tenantProfiles: [MSALTenantProfile]? {
        account.tenantProfiles.map { MSALTenantProfile($0, of: account, claims: claims) }
    }

    /// false: no account belongs to the whole device.
    public var isSSOAccount: Bool { false }

    public static func == (lhs: MSALAccount, rhs: MSALAccount) -> Bool { lhs.account.id == rhs.account.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(account.id) }
}

/// A home account id and its parts.
public final class MSALAccountId: Hashable, Sendable {
    /// The whole id.
    public let identifier: String

    /// The id of the user in the tenant.
    public let objectId: String?

    /// The tenant.
    public let tenantId: String?

    init(_ account: Account) {
        identifier = account.id.homeAccountID
        objectId = account.uid
        tenantId = account.utid
    }

    public static func == (lhs: MSALAccountId, rhs: MSALAccountId) -> Bool { lhs.identifier == rhs.identifier }

    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

/// An account as one tenant knows it.
public final class MSALTenantProfile: Sendable {
    private let profile: TenantProfile
    private let ownClaims: Claims?

    /// The host of the authority.
    public let environment: String?

    /// The id of the user in this tenant.
    public var identifier: String? { profile.localAccountID }

    /// The tenant.
    public var tenantId: String? { profile.tenantID.isEmpty ? nil : profile.tenantID }

    /// Whether this is the tenant the account belongs to.
    public var isHomeTenantProfile: Bool { profile.isHome }

    /// The claims of the newest ID token that this client has of this tenant.
    public var claims: [String: Any]? { ownClaims?.payload.dictionary }

    init(_ profile: TenantProfile, of account: Account, claims: [Claims]) {
        self.profile = profile
        environment = account.environment
        ownClaims = claims.first { $0.isOf(profile.tenantID, isHome: profile.isHome) }
    }
}

extension Claims {
    /// Whether they are of a tenant; those that name none are of the home tenant.
    fileprivate func isOf(_ tenant: String?, isHome: Bool) -> Bool {
        tenantID.map { $0.lowercased() == tenant?.lowercased() } ?? isHome
    }
}
