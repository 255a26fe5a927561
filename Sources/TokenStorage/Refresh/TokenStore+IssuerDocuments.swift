package import OAuth
import SQLite

extension TokenStore {
    /// What an issuer published at `url`, if it may still be used and was not altered.
    package func issuerDocument(_ url: String) throws -> JSON.Object? {
        try read { session in try session.issuerDocument(url) }
    }

    /// Keeps what an issuer publishes at `url` for some seconds.
    package func saveIssuerDocument(_ document: JSON.Object, url: String, lifetime: Int64) throws {
        try write { session in
            try session.deleteOldIssuerDocuments()
            try session.writeIssuerDocument(document, url: url, lifetime: lifetime)
        }
    }

    /// Keeps a document that no issuer published at `url` for some seconds, unless one is there: of all who try, in every process,
    /// one succeeds.
    package func claimIssuerDocument(_ document: JSON.Object, url: String, lifetime: Int64) throws -> Bool {
        try write { session in
            guard try session.issuerDocument(url) == nil else { return false }
            try session.writeIssuerDocument(document, url: url, lifetime: lifetime)
            return true
        }
    }
}
