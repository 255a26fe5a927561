package import OAuth
import SQLite

extension TokenStore {
    /// What an issuer published at `url`, if it may still be used.
    package func issuerDocument(_ url: String) throws -> JSON.Object? {
        try read { session in
            let text = try session.connection.first(
                "SELECT document FROM issuer_document WHERE url = ?1 AND ends_at > ?2 AND fetched_at <= ?2 + 60",
                .text(url),
                .integer(session.now)
            ) { $0.text(0) }
            // A document that cannot be read is fetched again.
            return text.flatMap { try? JSON(parsing: $0) }?.object
        }
    }

    /// Keeps what an issuer publishes at `url` for some seconds.
    package func saveIssuerDocument(_ document: JSON.Object, url: String, lifetime: Int64) throws {
        try write { session in
            try session.connection.run("DELETE FROM issuer_document WHERE ends_at <= ?1", .integer(session.now))
            try session.connection.run(
                "INSERT OR REPLACE INTO issuer_document (url, document, fetched_at, ends_at) VALUES (?1, ?2, ?3, ?4)",
                .text(url),
                .text(JSON.object(document).serialized),
                .integer(session.now),
                .integer(session.now + lifetime)
            )
        }
    }
}
