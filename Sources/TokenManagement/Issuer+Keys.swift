package import OAuth
package import OpenIDConnect
import TokenStorage

extension Issuer {
    /// How long nothing is fetched anew after a token made us do so, in seconds: whoever can hand us tokens must not be
    /// able to make us ask the issuer in a loop.
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

    /// Fetches once a minute at most; whoever comes meanwhile gets what that brought.
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
            throw AcquisitionError.unavailable(IssuerUnavailable(status: 503), isHeldBack: true)
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
