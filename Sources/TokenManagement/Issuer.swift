import HTTPTransport
import OAuth
import OpenIDConnect
import TokenStorage

/// An authority's metadata and keys, fetched once and kept in the store for as long as the issuer allows.
struct Issuer: Sendable {
    let authority: Authority
    let store: TokenStore
    let transport: any HTTPTransport
    let limits: HTTPLimits

    private var discovery: MetadataDiscovery { MetadataDiscovery(transport: transport, limits: limits) }

    func metadata() async throws -> IssuerMetadata {
        let url = authority.url
        if let document = try await kept(url) { return try IssuerMetadata(document) }
        let (metadata, lifetime) = try await discovery.metadata(of: authority)
        try await keep(metadata.document, url, lifetime)
        return metadata
    }

    /// Checks an ID token; keys that do not fit are fetched once more, as the issuer may have new ones.
    ///
    /// - Throws: ``IDTokenFlaw``.
    func check(_ token: IDToken, of metadata: IssuerMetadata, clientID: String, clocks: [Int64]) async throws {
        let validator = IDTokenValidator(issuer: metadata.issuer, clientID: clientID)
        try validator.checkClaims(of: token, clocks: clocks)
        guard let url = metadata.jwksURI else { return }
        if let keys = try await kept(url) {
            do {
                return try validator.checkSignature(of: token, keys: JSONWebKeySet(keys))
            } catch IDTokenFlaw.unknownKey {}
        }
        let keys: JSON.Object
        do {
            let (fetched, lifetime) = try await discovery.keys(at: url)
            try await keep(fetched, url, lifetime)
            keys = fetched
        } catch  where error is HTTPTransportError || error is IssuerUnavailable || error is MetadataError {
            // The token came from the issuer itself over TLS, which may stand in for its signature
            // (OpenID Connect Core §3.1.3.7, step 6); an outage of the keys must not end a session.
            return
        }
        try validator.checkSignature(of: token, keys: JSONWebKeySet(keys))
    }

    private func kept(_ url: String) async throws -> JSON.Object? {
        try await store.perform { try $0.issuerDocument(url) }
    }

    private func keep(_ document: JSON.Object, _ url: String, _ lifetime: Int64) async throws {
        try await store.perform { try $0.saveIssuerDocument(document, url: url, lifetime: lifetime) }
    }
}
