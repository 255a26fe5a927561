public import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A sign-in to begin.
public final class MSALNativeAuthSignInParameters {
    public let username: String
    public var password: String?
    public var scopes: [String]?
    public var claimsRequest: JSON?
    public var correlationId: UUID?

    public init(username: String) { self.username = username }

    var parameters: SignInParameters {
        var parameters = SignInParameters(
            username: username,
            password: password.map { Secret($0) },
            scope: Scope(scopes ?? [])
        )
        parameters.claims = claimsRequest
        parameters.correlationID = correlationId
        return parameters
    }
}
