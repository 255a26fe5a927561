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

    /// Keeps a document of our own at `url` for some seconds, unless one is there: of all who try, in every process,
    /// one succeeds.
    package func claimIssuerDocument(_ document: JSON.Object, url: String, lifetime: Int64) throws -> Bool {
        try write { session in
            // A document from the future is there because the clock was set back.
            try session.connection.run(
                "DELETE FROM issuer_document WHERE url = ?1 AND (ends_at <= ?2 OR fetched_at > ?2 + 60)",
                .text(url),
                .integer(session.now)
            )
            return try session.connection.integer(
                """
                INSERT INTO issuer_document (url, document, fetched_at, ends_at) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT DO NOTHING RETURNING 1
                """,
                .text(url),
                .text(JSON.object(document).serialized),
                .integer(session.now),
                .integer(session.now + lifetime)
            ) != nil
        }
    }
}
