#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A refresh token and the place it has in the store ([RFC 6749
/// §1.5](https://www.rfc-editor.org/rfc/rfc6749#section-1.5)).
public struct RefreshToken: Equatable, Sendable {
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

    /// The row it came from, so that only this very token is replaced or removed.
    package let rowID: Int64

    /// How often it was rotated in its row.
    package let generation: Int64

    package init(
        secret: Secret,
        clientID: String,
        familyID: String?,
        account: Account.ID,
        modifiedAt: Date?,
        scope: Scope?,
        rowID: Int64,
        generation: Int64
    ) {
        self.secret = secret
        self.clientID = clientID
        self.familyID = familyID
        self.account = account
        self.modifiedAt = modifiedAt
        self.scope = scope
        self.rowID = rowID
        self.generation = generation
    }
}
