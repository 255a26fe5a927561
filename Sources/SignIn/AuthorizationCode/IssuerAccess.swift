import HTTPTransport
import OAuth
import OpenIDConnect

/// An issuer's metadata and keys, fetched anew for a sign-in: a person waits anyway, and nothing old is believed.
struct IssuerAccess: Sendable {
    let metadata: IssuerMetadata
    let keys: JSONWebKeySet
    private let discovery: MetadataDiscovery

    /// Fetches both before anybody is asked to sign in.
    ///
    /// - Throws: ``MetadataError``, ``IssuerUnavailable``, ``HTTPTransportError``.
    init(_ authority: Authority, transport: any HTTPTransport, limits: HTTPLimits) async throws {
        discovery = MetadataDiscovery(transport: transport, limits: limits)
        metadata = try await discovery.metadata(of: authority).metadata
        try Self.check(metadata, authority)
        keys = try await Self.keys(metadata, discovery)
    }

    /// The keys as they are published now, where a token is signed with one that was not there before.
    func newKeys() async throws -> JSONWebKeySet { try await Self.keys(metadata, discovery) }

    private static func keys(_ metadata: IssuerMetadata, _ discovery: MetadataDiscovery) async throws -> JSONWebKeySet {
        guard let url = metadata.jwksURI else { throw MetadataError.incomplete("jwks_uri") }
        return JSONWebKeySet(try await discovery.keys(at: url).keys)
    }

    /// Refuses metadata at a Microsoft host, or at a user flow's, that speaks for somebody else.
    private static func check(_ metadata: IssuerMetadata, _ authority: Authority) throws(MetadataError) {
        guard authority.issuer == nil else { return }
        guard let found = HTTPAddress(metadata.issuer.replacing("{tenantid}", with: "tenant")) else {
            throw .otherIssuer(wanted: authority.url, found: metadata.issuer)
        }
        // Issuers of External ID are named by the tenant's id where its address has the tenant's name.
        let isExternal = Cloud.isExternalID(found.name) && Cloud.isExternalID(authority.environment)
        guard isExternal || Cloud.group(of: found.name) == Cloud.group(of: authority.environment) else {
            throw .otherIssuer(wanted: authority.url, found: metadata.issuer)
        }
    }
}
