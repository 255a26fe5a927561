/// An account as one tenant knows it.
public struct TenantProfile: Hashable, Sendable {
    /// The tenant; empty where the provider has none.
    public let tenantID: String

    /// The account's id in this tenant: the `oid` claim, else `sub`.
    public let localAccountID: String?

    /// Whether this is the tenant the account belongs to.
    public let isHome: Bool

    package init(tenantID: String, localAccountID: String?, isHome: Bool) {
        self.tenantID = tenantID
        self.localAccountID = localAccountID
        self.isHome = isHome
    }
}
