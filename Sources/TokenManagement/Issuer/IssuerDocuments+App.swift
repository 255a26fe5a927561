import HTTPTransport
import OAuth
package import OpenIDConnect

extension IssuerDocuments {
    /// The keys that a Microsoft issuer signs the tokens of one app with, as they are kept; nil if none are.
    package func keptKeys(ofApp clientID: String) async throws -> JSONWebKeySet? {
        guard let name = authority.metadataURL(ofApp: clientID) else { return nil }
        return try await kept(name).map { JSONWebKeySet($0) }
    }

    /// The keys that a Microsoft issuer signs the tokens of one app with now, which may be none; nil if they are cached
    /// ones, and cannot be had.
    ///
    /// - Throws: As ``metadata()`` does.
    package func keys(ofApp clientID: String, besides metadata: IssuerMetadata) async throws -> JSONWebKeySet? {
        let none = JSONValue.Object([("keys", .array([]))])
        // Kept under the address of the metadata that lead to them.
        guard let url = authority.metadataURL(ofApp: clientID) else { return JSONWebKeySet(none) }
        func fetch() async throws -> JSONWebKeySet {
            let found = try await discovery.keys(
                ofAppAt: url,
                of: authority,
                besides: metadata,
                isOptional: cache != nil
            )
            // That there are none is kept too, so that the next token causes no request.
            let keys = found?.keys ?? none
            try await keep(keys, url, found?.lifetime ?? Self.refetchInterval)
            return JSONWebKeySet(keys)
        }
        return try await orNone {
            guard let cache else { return try await fetch() }
            return try await fetchedAnew(
                url,
                cache,
                within: limits.short.total * 2,
                stored: { try await keptKeys(ofApp: clientID) },
                fetch: fetch
            ).document
        }
    }
}
