package import HTTPTransport
package import OAuth
package import OpenIDConnect
package import TokenStorage

/// What an issuer publishes about itself: its metadata and its keys.
///
/// A sign-in fetches them each time: the user waits anyway, and nothing old is trusted. A refresh takes them from the
/// store, where they are kept for as long as the issuer allows, and an outage of the keys does not end a session.
package struct IssuerDocuments: Sendable {
    package let authority: Authority
    package let transport: any HTTPTransport
    package let limits: HTTPLimits

    /// Keeps the documents; nil: they are fetched each time.
    private let cache: TokenStore?

    package init(
        of authority: Authority,
        cachedIn cache: TokenStore? = nil,
        transport: any HTTPTransport,
        limits: HTTPLimits = .issuer
    ) {
        self.authority = authority
        self.cache = cache
        self.transport = transport
        self.limits = limits
    }

    private var discovery: MetadataDiscovery { MetadataDiscovery(transport: transport, limits: limits) }

    /// - Throws: `MetadataError`, `IssuerUnavailable`, `HTTPTransportError`, `TokenStoreError`.
    package func metadata() async throws -> IssuerMetadata {
        if let metadata = try await keptMetadata() { return metadata }
        let (metadata, lifetime) = try await discovery.metadata(of: authority)
        try await keep(metadata.document, authority.url, lifetime)
        return metadata
    }

    /// Stored metadata is checked again: the file may be older than this program's list of clouds.
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

    private func kept(_ url: String) async throws -> JSONValue.Object? {
        try await cache?.performRead { try $0.issuerDocument(url) }
    }

    private func keep(_ document: JSONValue.Object, _ url: String, _ lifetime: Int64) async throws {
        try await cache?.perform { try $0.saveIssuerDocument(document, url: url, lifetime: lifetime) }
    }
}

extension IssuerDocuments {
    /// Seconds between two fetches that tokens cause: an attacker who sends tokens must not make this process query the
    /// issuer in a loop.
    private static let refetchInterval: Int64 = 60

    /// The keys of the issuer; nil if they are cached ones, and the issuer publishes none or does not answer.
    package func keys(of metadata: IssuerMetadata) async throws -> JSONWebKeySet? {
        try await orNone {
            let url = try Self.keyAddress(metadata)
            if let keys = try await kept(url) { return JSONWebKeySet(keys) }
            return try await fetchedKeys(at: url)
        }
    }

    /// The keys of the issuer as it publishes them now, for a token that none of the known keys fits; nil as above.
    package func newKeys(of metadata: IssuerMetadata, for token: IDToken) async throws -> JSONWebKeySet? {
        try await orNone {
            let url = try Self.keyAddress(metadata)
            guard let cache else { return try await fetchedKeys(at: url) }
            return try await newKeys(at: url, for: token, cache)
        }
    }

    private static func keyAddress(_ metadata: IssuerMetadata) throws(MetadataError) -> String {
        guard let url = metadata.jwksURI else { throw .incomplete("jwks_uri") }
        return url
    }

    /// Keys that can be done without, where they are cached ones.
    private func orNone(_ keys: () async throws -> JSONWebKeySet) async throws -> JSONWebKeySet? {
        do {
            return try await keys()
        } catch let error where cache != nil && AcquisitionError(documents: error) != nil {
            return nil
        }
    }

    private func fetchedKeys(at url: String) async throws -> JSONWebKeySet {
        let (keys, lifetime) = try await discovery.keys(at: url)
        try await keep(keys, url, lifetime)
        return JSONWebKeySet(keys)
    }

    /// Fetches once a minute at most; callers in between get the result of the last fetch.
    private func newKeys(at url: String, for token: IDToken, _ cache: TokenStore) async throws -> JSONWebKeySet {
        // What another program has fetched meanwhile may do.
        let known = JSONWebKeySet(try await kept(url) ?? JSONValue.Object())
        guard known.isOutdated(for: token) else { return known }
        let mark = url + "#fetched-anew"
        let isOurs = try await cache.perform {
            try $0.claimIssuerDocument(Refetch.claim(), url: mark, lifetime: Self.refetchInterval)
        }
        guard isOurs else { return try await othersKeys(at: url, mark) }
        do {
            let keys = try await fetchedKeys(at: url)
            try await keep(Refetch.done.document, mark, Self.refetchInterval)
            return keys
        } catch {
            // A cancelled fetch has sent nothing, and must not delay the next one.
            let lifetime = error is CancellationError ? 0 : Self.refetchInterval
            try await keep(Refetch.failed.document, mark, lifetime)
            throw error
        }
    }

    /// The keys that another task or program has just fetched, or is about to fetch.
    private func othersKeys(at url: String, _ mark: String) async throws -> JSONWebKeySet {
        for _ in 1...20 {
            guard try await Refetch(kept(mark)) == .underWay else { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        guard try await Refetch(kept(mark)) == .done else { throw IssuerUnavailable(status: 503) }
        if let keys = try await kept(url) { return JSONWebKeySet(keys) }
        return try await fetchedKeys(at: url)
    }
}

/// What became of the last time that keys were fetched anew, as the store keeps it.
private enum Refetch: String {
    case underWay
    case done
    case failed

    init?(_ document: JSONValue.Object?) {
        guard let state = document?["state"]?.text.flatMap(Self.init) else { return nil }
        self = state
    }

    /// The mark of one that begins, like no other's.
    static func claim() -> JSONValue.Object {
        var document = underWay.document
        document["claim"] = .string("\(UInt64.random(in: 0 ... .max))")
        return document
    }

    var document: JSONValue.Object { JSONValue.Object([("state", .string(rawValue))]) }
}
