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
        guard let tokenEndpoint = Self.endpoint("token_endpoint", in: document) else {
            throw .incomplete("token_endpoint")
        }
        self.document = document
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
    }

    public var authorizationEndpoint: String? { Self.endpoint("authorization_endpoint", in: document) }
    public var deviceAuthorizationEndpoint: String? { Self.endpoint("device_authorization_endpoint", in: document) }
    public var revocationEndpoint: String? { Self.endpoint("revocation_endpoint", in: document) }
    public var endSessionEndpoint: String? { Self.endpoint("end_session_endpoint", in: document) }
    public var jwksURI: String? { Self.endpoint("jwks_uri", in: document) }

    /// An address of the document; some issuers write an empty text or null for what they do not offer.
    func endpoint(_ name: String) -> String? { Self.endpoint(name, in: document) }

    /// What an issuer may leave out of a document.
    static let optionalEndpoints = ["device_authorization_endpoint", "revocation_endpoint"]

    private static func endpoint(_ name: String, in document: JSON.Object) -> String? {
        document[name]?.text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Every address that requests may be sent to.
    var endpoints: [String] {
        [
            tokenEndpoint, authorizationEndpoint, deviceAuthorizationEndpoint, revocationEndpoint, endSessionEndpoint,
            jwksURI,
        ].compactMap(\.self)
    }
}
