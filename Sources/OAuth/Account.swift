/// A sign-in identity at one authority.
///
/// For Azure AD B2C every user flow is an account of its own: the flow is part of the home account id.
public struct Account: Hashable, Sendable, Identifiable {
    /// What identifies an account: who vouches for it, and the name it has there.
    public struct ID: Sendable {
        /// The group of hosts that share accounts (Microsoft), or the exact issuer (any other OpenID provider).
        public let authority: String

        /// `uid.utid` of `client_info`, else the `sub` claim; the case of letters counts in a subject, and not in
        /// Microsoft's ids.
        public let homeAccountID: String

        public init(authority: String, homeAccountID: String) {
            self.authority = authority
            self.homeAccountID = homeAccountID
        }
    }

    public let id: ID

    /// The host that signed the account in, with its port unless that is 443.
    public let environment: String

    /// The `iss` claim of the newest ID token.
    public let issuer: String?

    /// The name to show, such as an e-mail address; it may change, be empty, and two accounts may share it.
    public let username: String

    /// The person's name, where an ID token or an imported row gave one.
    public let name: String?

    /// The Azure AD B2C user flow, lower-cased.
    public let policy: String?

    /// The two parts of a Microsoft home account id: the user in the home tenant, and the home tenant.
    public let uid: String?
    public let utid: String?

    /// The tenants the account has been seen in.
    public let tenantProfiles: [TenantProfile]

    package init(
        id: ID,
        environment: String,
        issuer: String?,
        username: String,
        name: String?,
        policy: String?,
        uid: String?,
        utid: String?,
        tenantProfiles: [TenantProfile]
    ) {
        self.id = id
        self.environment = environment
        self.issuer = issuer
        self.username = username
        self.name = name
        self.policy = policy
        self.uid = uid
        self.utid = utid
        self.tenantProfiles = tenantProfiles
    }
}

extension Account.ID: Hashable {
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.authority == rhs.authority && lhs.homeAccountID.lowercased() == rhs.homeAccountID.lowercased()
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(authority)
        hasher.combine(homeAccountID.lowercased())
    }
}
