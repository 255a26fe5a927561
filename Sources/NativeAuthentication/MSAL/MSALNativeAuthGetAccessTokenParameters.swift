public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An access token that is wanted.
public final class MSALNativeAuthGetAccessTokenParameters {
    public var forceRefresh = false

    /// Whether the result has the refresh token too.
    public var returnRefreshToken = false
    public var scopes: [String]?
    public var claimsRequest: JSON?
    public var correlationId: UUID?

    public init() {}
}
