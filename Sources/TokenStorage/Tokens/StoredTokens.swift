public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A refresh token of the store with what it was issued for ([RFC 6749
/// §1.5](https://www.rfc-editor.org/rfc/rfc6749#section-1.5)).
public struct StoredRefreshToken: Equatable, Sendable {
    public let secret: Secret

    /// The client that obtained it, even for a family token.
    public let clientID: String

    /// The family of clients that may use it; `"1"` is the only one in use.
    public let familyID: String?

    public let account: Account.ID

    /// When it was stored; the newest of several is used first.
    public let modifiedAt: Date?

    /// The scope it was issued for; nil if it is not known.
    public let scope: Scope?

    /// Its row, so that only this very token is replaced or removed.
    package let rowID: Int64

    /// How often the token in this row was replaced.
    let generation: Int64
}

/// An ID token of the store with what it was issued for.
public struct StoredIDToken: Sendable {
    public let idToken: IDToken
    public let clientID: String

    /// The tenant; empty where the provider has none.
    public let tenantID: String

    /// When it was stored, in Unix seconds.
    public let updatedAt: Int64
}
