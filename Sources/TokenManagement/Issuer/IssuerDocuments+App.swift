import OAuth
package import OpenIDConnect

extension IssuerDocuments {
    /// The keys that a Microsoft issuer signs the tokens of one app with, as they are kept; nil if none are.
    package func keptKeys(ofApp clientID: String) async throws -> JSONWebKeySet? {
        guard let name = authority.metadataURL(ofApp: clientID) else { return nil }
        return try await kept(name).map { JSONWebKeySet($0) }
    }

    /// The keys that a Microsoft issuer signs the tokens of one app with now; nil if they are cached ones, and cannot be
    /// had.
    ///
    /// - Throws: As ``metadata()`` does.
    package func keys(ofApp clientID: String, besides metadata: IssuerMetadata) async throws -> JSONWebKeySet? {
        // Kept under the address of the metadata that lead to them.
        guard let name = authority.metadataURL(ofApp: clientID) else { return nil }
        func fetch() async throws -> JSONWebKeySet {
            let found = try await discovery.keys(ofApp: clientID, at: authority, besides: metadata)
            guard let found else { return JSONWebKeySet(JSONValue.Object()) }
            try await keep(found.keys, name, found.lifetime)
            return JSONWebKeySet(found.keys)
        }
        return try await orNone {
            guard let cache else { return try await fetch() }
            return try await fetchedAnew(name, cache, stored: { try await keptKeys(ofApp: clientID) }, fetch: fetch)
        }
    }
}
