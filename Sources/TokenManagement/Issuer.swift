package import HTTPTransport
package import OAuth
package import OpenIDConnect
package import TokenStorage

/// An authority's metadata and keys, fetched once and kept in the store for as long as the issuer allows.
package struct Issuer: Sendable {
    package let authority: Authority
    package let store: TokenStore
    package let transport: any HTTPTransport
    package let limits: HTTPLimits

    /// How long to wait before the store is asked again whether another program has fetched keys.
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    package init(authority: Authority, store: TokenStore, transport: any HTTPTransport, limits: HTTPLimits = .issuer) {
        self.authority = authority
        self.store = store
        self.transport = transport
        self.limits = limits
    }

    var discovery: MetadataDiscovery { MetadataDiscovery(transport: transport, limits: limits) }

    /// - Throws: ``AcquisitionError``, `TokenStoreError`.
    package func metadata() async throws -> IssuerMetadata {
        if let metadata = try await keptMetadata() { return metadata }
        let (metadata, lifetime) = try await fetching { try await discovery.metadata(of: authority) }
        try await keep(metadata.document, authority.url, lifetime)
        return metadata
    }

    /// The metadata for a refresh, whose token goes nowhere but where the account signed in.
    func metadataForRefresh() async throws -> IssuerMetadata {
        do {
            return try await metadata()
        } catch AcquisitionError.metadata(.foreignEndpoint) {
            throw AcquisitionError.interactionRequired(.foreignEndpoint)
        }
    }

    func fetching<Document>(_ body: () async throws -> Document) async throws -> Document {
        do {
            return try await body()
        } catch let error as MetadataError {
            throw AcquisitionError.metadata(error)
        } catch let error as HTTPTransportError {
            throw AcquisitionError.network(error)
        } catch let error as IssuerUnavailable {
            throw AcquisitionError.unavailable(error, isHeldBack: false)
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

    func kept(_ url: String) async throws -> JSON.Object? {
        try await store.perform { try $0.issuerDocument(url) }
    }

    func keep(_ document: JSON.Object, _ url: String, _ lifetime: Int64) async throws {
        try await store.perform { try $0.saveIssuerDocument(document, url: url, lifetime: lifetime) }
    }
}
