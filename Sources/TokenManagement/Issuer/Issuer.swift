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

    private var discovery: MetadataDiscovery { MetadataDiscovery(transport: transport, limits: limits) }

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

    private func fetching<Document>(_ body: () async throws -> Document) async throws -> Document {
        do {
            return try await body()
        } catch let error as MetadataError {
            throw AcquisitionError.metadata(error)
        } catch let error as HTTPTransportError {
            throw AcquisitionError.network(error)
        } catch let error as IssuerUnavailable {
            throw AcquisitionError.unavailable(error, isThrottled: false)
        }
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

    private func kept(_ url: String) async throws -> JSON.Object? {
        try await store.perform { try $0.issuerDocument(url) }
    }

    private func keep(_ document: JSON.Object, _ url: String, _ lifetime: Int64) async throws {
        try await store.perform { try $0.saveIssuerDocument(document, url: url, lifetime: lifetime) }
    }
}

extension Issuer {
    /// Seconds between two fetches that tokens cause: an attacker who sends tokens must not make this process query the
    /// issuer in a loop.
    private static let refetchInterval: Int64 = 60

    /// The keys of the issuer; nil where it publishes none, or does not answer.
    ///
    /// ID tokens come from the issuer itself over TLS, which may stand in for their signature (OpenID Connect Core
    /// §3.1.3.7, step 6): an outage of the keys must not end a session.
    package func keys(of metadata: IssuerMetadata) async throws -> JSONWebKeySet? {
        guard let url = metadata.jwksURI else { return nil }
        return try await unlessOut { try await keys(at: url) }
    }

    /// The keys of the issuer as it publishes them now, for a token that none of those known fits; nil where it does
    /// not answer.
    package func newKeys(of metadata: IssuerMetadata, for token: IDToken) async throws -> JSONWebKeySet? {
        guard let url = metadata.jwksURI else { return nil }
        return try await unlessOut { try await newKeys(at: url, for: token) }
    }

    private func unlessOut(_ body: () async throws -> JSONWebKeySet) async throws -> JSONWebKeySet? {
        do {
            return try await body()
        } catch is AcquisitionError {
            return nil
        }
    }

    private func keys(at url: String) async throws -> JSONWebKeySet {
        if let keys = try await kept(url) { return JSONWebKeySet(keys) }
        return try await fetchedKeys(at: url)
    }

    private func fetchedKeys(at url: String) async throws -> JSONWebKeySet {
        let (keys, lifetime) = try await fetching { try await discovery.keys(at: url) }
        try await keep(keys, url, lifetime)
        return JSONWebKeySet(keys)
    }

    /// Fetches once a minute at most; callers in between get the result of the last fetch.
    private func newKeys(at url: String, for token: IDToken) async throws -> JSONWebKeySet {
        // What another program has fetched meanwhile may do.
        let known = JSONWebKeySet(try await kept(url) ?? JSON.Object())
        guard known.isOutdated(for: token) else { return known }
        let mark = url + "#fetched-anew"
        let isOurs = try await store.perform {
            try $0.claimIssuerDocument(Refetch.underWay.document, url: mark, lifetime: Self.refetchInterval)
        }
        guard isOurs else { return try await othersKeys(at: url, mark) }
        do {
            let keys = try await fetchedKeys(at: url)
            try await keep(Refetch.done.document, mark, Self.refetchInterval)
            return keys
        } catch {
            // One that was called off asked nothing, and is not to keep the next one waiting.
            let lifetime = error is CancellationError ? 0 : Self.refetchInterval
            try await keep(Refetch.failed.document, mark, lifetime)
            throw error
        }
    }

    /// The keys that another task or program has fetched anew, or is about to.
    private func othersKeys(at url: String, _ mark: String) async throws -> JSONWebKeySet {
        for _ in 1...20 {
            guard try await Refetch(kept(mark)) == .underWay else { break }
            try await pause(.milliseconds(100))
        }
        guard try await Refetch(kept(mark)) == .done else {
            throw AcquisitionError.unavailable(IssuerUnavailable(status: 503), isThrottled: true)
        }
        return try await keys(at: url)
    }
}

/// What became of the last time that keys were fetched anew, as the store keeps it.
private enum Refetch: String {
    case underWay
    case done
    case failed

    init?(_ document: JSON.Object?) {
        guard let state = document?["state"]?.text.flatMap(Self.init) else { return nil }
        self = state
    }

    var document: JSON.Object { JSON.Object([("state", .string(rawValue))]) }
}

extension Authority {
    /// Where tokens of `account` come from: what was asked for, else where it signed in.
    ///
    /// A word such as `common` means the account's home tenant, so that no token is stored under it.
    package init(of account: Account, requested: Authority?) throws {
        guard let requested else {
            self = try Authority(home: account)
            return
        }
        guard requested.issuer == nil, requested.isTenantless, let tenant = account.utid else {
            self = requested
            return
        }
        self = requested.replacing(tenant: tenant.lowercased())
    }

    private init(home account: Account) throws {
        if account.id.hasIssuer {
            try self.init(issuer: account.id.issuer)
            return
        }
        // Only a development issuer on loopback is without TLS, and its tokens say so.
        let scheme = account.issuer?.lowercased().hasPrefix("http://") == true ? "http" : "https"
        // A host that shares accounts with no other names its port, where an imported row may have dropped it.
        let host = Cloud.contains(account.id.issuer) ? account.environment : account.id.issuer
        let base = "\(scheme)://\(host)"
        let tenant = account.utid ?? account.tenantProfiles.first?.tenantID
        if let tenant, let userFlow = account.userFlow {
            try self.init(parsing: "\(base)/tfp/\(tenant)/\(userFlow)")
        } else if let tenant, !tenant.isEmpty {
            try self.init(parsing: "\(base)/\(tenant)")
        } else {
            try self.init(issuer: account.issuer ?? base)
        }
    }
}
