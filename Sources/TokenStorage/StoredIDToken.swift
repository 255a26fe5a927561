public import OAuth

/// An ID token of the store with what it was issued for.
public struct StoredIDToken: Sendable {
    public let idToken: IDToken
    public let clientID: String

    /// The tenant; empty where the provider has none.
    public let tenantID: String

    /// When it was stored, in Unix seconds.
    public let updatedAt: Int64
}
