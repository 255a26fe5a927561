package import HTTPTransport
package import OAuth
package import OpenIDConnect
package import TokenStorage

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What an issuer publishes about itself: its metadata and its keys.
///
/// A sign-in fetches them each time: the user waits anyway, and nothing old is trusted. A refresh takes them from the
/// store, where they are kept for as long as the issuer allows, and an outage of the keys does not end a session. What
/// turns out to be old is replaced there: by the refresh that meets it, and by every sign-in.
package struct IssuerDocuments: Sendable {
    package let authority: Authority
    package let transport: any HTTPTransport
    package let limits: HTTPLimits

    /// Keeps the documents; nil: they are fetched each time.
    let cache: TokenStore?

    /// What was fetched, where nothing keeps it.
    private let fetched = FetchedDocuments()

    /// Fetches that are shared with others; nil if they are not shared.
    var fetches: SharedFetches?

    /// Whether nothing is sent while a wait lasts that the issuer asked for; a person who signs in does not wait.
    var keepsWaits = false

    /// Tells how old what was fetched is when it is kept.
    private let now: @Sendable () -> Date

    package init(
        of authority: Authority,
        cachedIn cache: TokenStore? = nil,
        transport: any HTTPTransport,
        limits: HTTPLimits = .issuer,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.now = now
        self.authority = authority
        self.cache = cache
        self.transport = transport
        self.limits = limits
    }

    var discovery: MetadataDiscovery { MetadataDiscovery(transport: transport, limits: limits) }

    /// - Throws: `MetadataError`, `IssuerUnavailable`, `HTTPTransportError`, `TokenStoreError`; `IssuerWait` where
    ///   waits are kept.
    package func metadata() async throws -> IssuerMetadata {
        if let metadata = try await keptMetadata() { return metadata }
        try await requireNoWait(for: .metadata, at: authority.url)
        guard let fetches else { return try await fetchedMetadata() }
        let document = try await fetches.document(.metadata, at: authority.url) {
            // A fetch may have ended since the store was asked.
            if let metadata = try await keptMetadata() { return metadata.document }
            return try await fetchedMetadata().document
        }
        // The fetch may have been for another authority with this address, which accepts other endpoints.
        return try checked(document)
    }

    /// One of the endpoints that an issuer need not have; nil if it publishes none.
    ///
    /// Metadata that are kept without it are fetched anew, if that can be.
    ///
    /// - Throws: As ``metadata()`` does.
    package func endpoint(_ endpoint: KeyPath<IssuerMetadata, String?>) async throws -> String? {
        guard let kept = try await keptMetadata() else { return try await fetchedMetadata()[keyPath: endpoint] }
        if let found = kept[keyPath: endpoint] { return found }
        return try await newMetadata()?[keyPath: endpoint]
    }

    private func fetchedMetadata() async throws -> IssuerMetadata {
        let (metadata, lifetime) = try await keepingWait(for: .metadata, at: authority.url) {
            try await discovery.metadata(of: authority)
        }
        try await keep(metadata.document, authority.url, lifetime)
        return metadata
    }

    /// Stored metadata is checked again: the file may be older than this program's list of clouds.
    private func keptMetadata() async throws -> IssuerMetadata? {
        guard let document = try await kept(authority.url) else { return nil }
        return try? checked(document)
    }

    private func checked(_ document: JSONValue.Object) throws -> IssuerMetadata {
        let metadata = try IssuerMetadata(document)
        try authority.check(metadata)
        return metadata
    }

    func kept(_ url: String) async throws -> JSONValue.Object? {
        try await cache?.performRead { try $0.issuerDocument(url) }
    }

    func keep(_ document: JSONValue.Object, _ url: String, _ lifetime: Int64) async throws {
        guard let cache else {
            fetched.add(document, url, lifetime, at: now())
            return
        }
        try await cache.perform { try $0.saveIssuerDocument(document, url: url, lifetime: lifetime) }
    }

    /// Keeps the wait that the issuer asks for when it does not serve, for every process on the store.
    private func keepingWait<Answer: Sendable>(
        for kind: IssuerDocumentKind,
        at url: String,
        _ ask: () async throws -> Answer
    ) async throws -> Answer {
        do {
            return try await ask()
        } catch let error as IssuerUnavailable {
            let wait = error.retryAfter ?? (error.status == 429 ? .seconds(60) : nil)
            if let cache, let seconds = wait?.secondsRoundedUp {
                let wait = IssuerWait.document(error.status, until: cache.options.now().unixSeconds + seconds)
                try await keep(wait, IssuerWait.name(kind, url), seconds)
            }
            throw error
        }
    }

    private func requireNoWait(for kind: IssuerDocumentKind, at url: String) async throws {
        guard keepsWaits, let cache, let wait = try await kept(IssuerWait.name(kind, url)) else { return }
        throw IssuerWait(wait, now: cache.options.now().unixSeconds)
    }

    /// Keeps what was fetched here in the store that took a sign-in's tokens: the refreshes that follow must not meet
    /// what it has just found to be old, nor fail where the issuer's metadata cannot be had any more.
    ///
    /// A newer document stays: a person may have taken a quarter of an hour to sign in.
    package func replaceKept(in store: TokenStore) throws {
        for (url, fetched) in fetched.all {
            let age = Int64(max(0, now().timeIntervalSince(fetched.at)))
            let lifetime = fetched.lifetime
            try store.replaceIssuerDocument(fetched.document, url: url, lifetime: lifetime, age: age)
            // The issuer serves again, as a person has found out.
            for wait in IssuerDocumentKind.allCases.map({ IssuerWait.name($0, url) }) {
                guard try store.issuerDocument(wait) != nil else { continue }
                try store.saveIssuerDocument(JSONValue.Object(), url: wait, lifetime: 0)
            }
        }
    }
}

extension IssuerDocuments {
    /// Seconds between two fetches that tokens or missing endpoints cause: an attacker who sends tokens must not make
    /// this process query the issuer in a loop.
    static let refetchInterval: Int64 = 60

    /// The keys of the issuer; nil if they are cached ones, and the issuer publishes none or does not answer.
    package func keys(of metadata: IssuerMetadata) async throws -> JSONWebKeySet? {
        try await orNone {
            let url = try Self.keyAddress(metadata)
            if let keys = try await kept(url) { return JSONWebKeySet(keys) }
            try await requireNoWait(for: .keys, at: url)
            guard let fetches else { return JSONWebKeySet(try await fetchedKeys(at: url)) }
            let keys = try await fetches.document(.keys, at: url) {
                if let keys = try await kept(url) { return keys }
                return try await fetchedKeys(at: url)
            }
            return JSONWebKeySet(keys)
        }
    }

    /// The keys of the issuer as it publishes them now, for a token that is signed with none of the known keys; nil as
    /// above.
    package func newKeys(
        of metadata: IssuerMetadata,
        for token: IDToken
    ) async throws -> FetchedAnew<JSONWebKeySet>? {
        try await orNone {
            guard let cache else {
                return FetchedAnew(JSONWebKeySet(try await fetchedKeys(at: Self.keyAddress(metadata))))
            }
            // An issuer whose token endpoint has moved may have moved its keys too.
            let url = try Self.keyAddress(try await keptMetadata() ?? metadata)
            // What another program has fetched meanwhile may do.
            let known = JSONWebKeySet(try await kept(url) ?? JSONValue.Object())
            guard known.isOutdated(for: token) else { return FetchedAnew(known) }
            return try await fetchedAnew(
                url,
                cache,
                within: limits.short.total,
                stored: { try await kept(url).map { JSONWebKeySet($0) } },
                fetch: { JSONWebKeySet(try await fetchedKeys(at: url)) }
            )
        }
    }

    /// The metadata as the issuer publishes it now, for a token endpoint that is not there; nil if it names no other.
    ///
    /// nil also if it cannot be had: that the endpoint is missing is the error to report then.
    package func movedMetadata(since known: IssuerMetadata) async -> IssuerMetadata? {
        do {
            // What another program has fetched meanwhile may do.
            if let stored = try await keptMetadata(), stored.tokenEndpoint != known.tokenEndpoint { return stored }
            let metadata = try await newMetadata()
            return metadata?.tokenEndpoint == known.tokenEndpoint ? nil : metadata
        } catch {
            return nil
        }
    }

    /// The metadata as the issuer publishes it now; nil if it cannot be asked, or nothing keeps what it says.
    private func newMetadata() async throws -> IssuerMetadata? {
        guard let cache else { return nil }
        do {
            return try await fetchedAnew(
                authority.url,
                cache,
                within: limits.total,
                stored: { try await keptMetadata() },
                fetch: { try await fetchedMetadata() }
            ).document
        } catch let error where AcquisitionError(documents: error) != nil {
            return nil
        }
    }

    private static func keyAddress(_ metadata: IssuerMetadata) throws(MetadataError) -> String {
        guard let url = metadata.jwksURI else { throw .incomplete("jwks_uri") }
        return url
    }

    /// Keys that can be done without, where they are cached ones.
    func orNone<Keys: Sendable>(_ keys: () async throws -> Keys) async throws -> Keys? {
        do {
            return try await keys()
        } catch let error where cache != nil && AcquisitionError(documents: error) != nil {
            return nil
        }
    }

    private func fetchedKeys(at url: String) async throws -> JSONValue.Object {
        let (keys, lifetime) = try await keepingWait(for: .keys, at: url) {
            try await discovery.keys(at: url, isOptional: cache != nil)
        }
        try await keep(keys, url, lifetime)
        return keys
    }

    /// Fetches once a minute at most; callers in between get the result of the last fetch, which takes no longer than
    /// `limit`.
    func fetchedAnew<Document: Sendable>(
        _ url: String,
        _ cache: TokenStore,
        within limit: Duration,
        stored: () async throws -> Document?,
        fetch: () async throws -> Document
    ) async throws -> FetchedAnew<Document> {
        // No document has such a name: an issuer chooses the address of its keys.
        let mark = "fetched anew: \(url)"
        // And what storing it takes.
        let patience = limit + .seconds(1)
        let isOurs = try await cache.perform {
            try $0.claimIssuerDocument(Refetch.claim(), url: mark, lifetime: patience.secondsRoundedUp)
        }
        guard isOurs else {
            let end = try await waitForOthers(mark, for: patience)
            if let document = try await stored() { return FetchedAnew(document, end: end) }
            return FetchedAnew(try await fetch())
        }
        do {
            let document = try await fetch()
            let end = cache.options.now().unixSeconds + Self.refetchInterval
            try await keep(Refetch.done(until: end), mark, Self.refetchInterval)
            return FetchedAnew(document)
        } catch {
            // A cancelled fetch has sent nothing, and must not delay the next one.
            let lifetime = error is CancellationError ? 0 : Self.refetchInterval
            try await keep(Refetch.failed.document, mark, lifetime)
            throw error
        }
    }

    /// Waits for what another task or program has just fetched, or is about to fetch.
    ///
    /// - Returns: until when it is not fetched again, where it was fetched before.
    private func waitForOthers(_ mark: String, for patience: Duration) async throws -> Int64? {
        let start = ContinuousClock.now
        var wasUnderWay = false
        while try await Refetch(kept(mark)) == .underWay, start.duration(to: .now) < patience {
            wasUnderWay = true
            try await Task.sleep(for: .milliseconds(100))
        }
        let found = try await kept(mark)
        guard Refetch(found) == .done else { throw IssuerUnavailable(status: 503) }
        return wasUnderWay ? nil : found?["until"]?.seconds
    }
}
