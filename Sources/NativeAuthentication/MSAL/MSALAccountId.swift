import OAuth

/// A home account id and its parts as MSAL shows them.
public struct MSALAccountId: Hashable, Sendable {
    public let identifier: String
    public let objectId: String?
    public let tenantId: String?

    init(_ account: Account) {
        identifier = account.id.homeAccountID
        objectId = account.uid
        tenantId = account.utid
    }
}
