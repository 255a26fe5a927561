import Database
package import OAuth
import SQL

extension SealedTable {
    /// A row that was altered is fetched again.
    static let issuerDocument = SealedTable(
        "issuer_document",
        isOwned: false,
        clear: ["url", "document", "fetched_at", "ends_at"],
        sealed: ["mac"]
    )
}

extension TokenStore {
    /// What an issuer published at `url`, if it may still be used and was not altered.
    package func issuerDocument(_ url: String) throws -> JSONValue.Object? {
        try read { session in try session.issuerDocument(url) }
    }

    /// Keeps what an issuer publishes at `url` for some seconds.
    package func saveIssuerDocument(_ document: JSONValue.Object, url: String, lifetime: Int64) throws {
        try write { session in
            try session.deleteOldIssuerDocuments()
            let row = try session.lockedIssuerDocument(url)
            try session.writeIssuerDocument(document, url: url, lifetime: lifetime, row: row)
        }
    }

    /// Keeps a document that no issuer published at `url` for some seconds, unless one is there: of all tasks and
    /// processes that try, one succeeds, on however many machines.
    ///
    /// `document` is like no other's: where the answer to the commit was lost, the claim is known by it.
    package func claimIssuerDocument(_ document: JSONValue.Object, url: String, lifetime: Int64) throws -> Bool {
        try write { session in
            let row = try session.lockedIssuerDocument(url)
            if let claim = try session.issuerDocument(url) { return claim == document }
            try session.writeIssuerDocument(document, url: url, lifetime: lifetime, row: row)
            return true
        }
    }
}

extension StoreConnection {
    private static let documentOfURL = SQL(
        // A document from the future is there because the clock was set back.
        SealedTable.issuerDocument.selection + "WHERE t.url = ?1 AND t.ends_at > ?2 AND t.fetched_at <= ?2 + 60"
    )

    /// What is kept for a URL; nil where it is too old, was altered, or is not a JSON object.
    func issuerDocument(_ url: String) throws -> JSONValue.Object? {
        try connection.first(Self.documentOfURL, .text(url), .integer(now)) { row in
            guard try intact({ try verify(row, of: .issuerDocument) }) != nil else { return nil }
            // What cannot be read is fetched again.
            return (try? JSONValue(parsing: row.text(SealedTable.issuerDocument["document"])))?.object
        } ?? nil
    }

    /// The row of a URL, which no other node replaces before this transaction has ended; nil if there is none.
    ///
    /// Where it is nil, the second of two nodes that write one finds a collision, and begins again.
    func lockedIssuerDocument(_ url: String) throws -> Int64? {
        try connection.integer(Self.rowOfURL, .text(url))
    }

    private static let rowOfURL = SQL { dialect in
        "SELECT id FROM issuer_document WHERE url = ?1" + (dialect == .sqlite ? "" : " FOR UPDATE")
    }

    /// Keeps a document in the `row` of its URL, which was read in the same transaction.
    func writeIssuerDocument(_ document: JSONValue.Object, url: String, lifetime: Int64, row: Int64?) throws {
        try write(
            .issuerDocument,
            id: row,
            clear: [.text(url), .text(JSONValue.object(document).serialized), .integer(now), .integer(now + lifetime)],
            sealed: [Secret("")]
        )
    }

    /// On a server the janitor does it: writers would wait for each other there.
    func deleteOldIssuerDocuments() throws {
        guard !connection.isServer else { return }
        try connection.run("DELETE FROM issuer_document WHERE ends_at <= ?1", .integer(now))
    }
}
