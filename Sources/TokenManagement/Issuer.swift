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

    /// - Throws: ``AcquisitionError``, ``TokenStoreError``.
    func metadata() async throws -> IssuerMetadata {
        if let metadata = try await keptMetadata() { return metadata }
        do {
            let (metadata, lifetime) = try await discovery.metadata(of: authority)
            try await keep(metadata.document, authority.url, lifetime)
            return metadata
        } catch MetadataError.foreignEndpoint {
            throw AcquisitionError.interactionRequired(.foreignEndpoint)
        } catch let error as MetadataError {
            throw AcquisitionError.metadata(error)
        } catch let error as HTTPTransportError {
            throw AcquisitionError.network(error)
        } catch let error as IssuerUnavailable {
            throw AcquisitionError.unavailable(error, isHeldBack: false)
        }
    }

    /// The keys of the issuer; nil where it publishes none, or does not answer.
    ///
    /// ID tokens come from the issuer itself over TLS, which may stand in for their signature (OpenID Connect Core
    /// §3.1.3.7, step 6): an outage of the keys must not end a session.
    func keys(of metadata: IssuerMetadata) async throws -> JSONWebKeySet? {
        guard let url = metadata.jwksURI else { return nil }
        if let keys = try await kept(url) { return JSONWebKeySet(keys) }
        return try await newKeys(of: metadata)
    }

    /// The keys of the issuer as it publishes them now.
    func newKeys(of metadata: IssuerMetadata) async throws -> JSONWebKeySet? {
        guard let url = metadata.jwksURI else { return nil }
        do {
            let (keys, lifetime) = try await discovery.keys(at: url)
            try await keep(keys, url, lifetime)
            return JSONWebKeySet(keys)
        } catch  where error is HTTPTransportError || error is IssuerUnavailable || error is MetadataError {
            return nil
        }
    }

    /// What is kept is judged anew: the file may be older than what is known of clouds now.
    private func keptMetadata() async throws -> IssuerMetadata? {
        guard let document = try await kept(authority.url) else { return nil }
        do {
            let metadata = try IssuerMetadata(document)
            try authority.check(metadata)
            return metadata
        } catch {
            return nil
        }
    }

    private func kept(_ url: String) async throws -> JSON.Object? {
        try await store.perform { try $0.issuerDocument(url) }
    }

    private func keep(_ document: JSON.Object, _ url: String, _ lifetime: Int64) async throws {
        try await store.perform { try $0.saveIssuerDocument(document, url: url, lifetime: lifetime) }
    }
}
