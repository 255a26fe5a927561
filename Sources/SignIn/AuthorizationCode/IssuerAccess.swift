package import HTTPTransport
package import OAuth
package import OpenIDConnect

/// An issuer's metadata and keys, fetched anew for a sign-in: a person waits anyway, and nothing old is believed.
package struct IssuerAccess: Sendable {
    package let metadata: IssuerMetadata
    package let keys: JSONWebKeySet
    private let discovery: MetadataDiscovery
    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    /// Fetches both before the sign-in page opens.
    ///
    /// - Throws: `MetadataError`, `IssuerUnavailable`, `HTTPTransportError`.
    package init(_ authority: Authority, transport: any HTTPTransport, limits: HTTPLimits) async throws {
        self.transport = transport
        self.limits = limits
        discovery = MetadataDiscovery(transport: transport, limits: limits)
        metadata = try await discovery.metadata(of: authority).metadata
        keys = try await Self.keys(metadata, discovery)
    }

    /// Decodes an ID token and checks it; clocks that are not known are nil.
    ///
    /// - Throws: ``IDTokenFlaw``, and what fetching keys throws.
    package func checked(_ secret: Secret, by validator: IDTokenValidator, clocks: [Int64?]) async throws -> IDToken {
        let token: IDToken
        do {
            token = try IDToken(decoding: secret)
        } catch {
            throw IDTokenFlaw.unreadable
        }
        // Claims first: a token of another issuer or client must not cause a request.
        try validator.checkClaims(of: token, clocks: clocks.compactMap(\.self))
        do {
            try validator.checkSignature(of: token, keys: keys)
        } catch IDTokenFlaw.unknownKey {
            // The issuer may have begun to sign with another key meanwhile; asked once, it says so.
            try validator.checkSignature(of: token, keys: try await Self.keys(metadata, discovery))
        }
        return token
    }

    /// Revokes a refresh token that must not be used.
    package func revoke(_ token: Secret?, clientID: String) async {
        guard let token, let url = metadata.revocationEndpoint else { return }
        let endpoint = RevocationEndpoint(url, transport: transport, limits: limits)
        // A new task, so that a cancelled sign-in still revokes. The reason of the failed sign-in matters more than
        // this result.
        _ = await Task { try await endpoint.revoke(token, clientID: clientID) }.result
    }

    private static func keys(_ metadata: IssuerMetadata, _ discovery: MetadataDiscovery) async throws -> JSONWebKeySet {
        guard let url = metadata.jwksURI else { throw MetadataError.incomplete("jwks_uri") }
        return JSONWebKeySet(try await discovery.keys(at: url).keys)
    }
}
