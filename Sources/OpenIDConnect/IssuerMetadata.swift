public import OAuth

/// What an issuer publishes about itself ([RFC 8414](https://www.rfc-editor.org/rfc/rfc8414),
/// [OpenID Connect Discovery](https://openid.net/specs/openid-connect-discovery-1_0.html)).
public struct IssuerMetadata: Hashable, Sendable {
    /// The document as published.
    public let document: JSON.Object

    public let issuer: String
    public let tokenEndpoint: String

    /// - Throws: ``MetadataError/incomplete(_:)`` if the issuer or its token endpoint is missing.
    public init(_ document: JSON.Object) throws(MetadataError) {
        guard let issuer = document["issuer"]?.text, !issuer.isEmpty else { throw .incomplete("issuer") }
        guard let tokenEndpoint = document["token_endpoint"]?.text else { throw .incomplete("token_endpoint") }
        self.document = document
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
    }

    public var authorizationEndpoint: String? { document["authorization_endpoint"]?.text }
    public var deviceAuthorizationEndpoint: String? { document["device_authorization_endpoint"]?.text }
    public var revocationEndpoint: String? { document["revocation_endpoint"]?.text }
    public var endSessionEndpoint: String? { document["end_session_endpoint"]?.text }
    public var jwksURI: String? { document["jwks_uri"]?.text }

    /// Every address that requests may be sent to.
    var endpoints: [String] {
        [
            tokenEndpoint, authorizationEndpoint, deviceAuthorizationEndpoint, revocationEndpoint, endSessionEndpoint,
            jwksURI,
        ].compactMap(\.self)
    }
}
