import Database
package import OAuth
import SQL

extension SealedTable {
    /// A row that was altered is fetched again.
    static let issuerDocument = SealedTable(
        "issuer_document",
        isOwned: false,
        clear: ["url", "document", "fetched_at", "ends_at"],
        sealed: ["mac"],
        whenAltered: .countsForNothing
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

    /// Keeps a document that was fetched some seconds ago, in the place of an older one that says something else.
    package func replaceIssuerDocument(
        _ document: JSONValue.Object,
        url: String,
        lifetime: Int64,
        age: Int64
    ) throws {
        let hasPlace = { @Sendable (session: StoreConnection) throws in
            try session.keepsNothingNewer(than: document, of: age, url: url)
        }
        guard age < lifetime, try read(hasPlace) else { return }
        try write { session in
            try session.deleteOldIssuerDocuments()
            let row = try session.lockedIssuerDocument(url)
            guard try hasPlace(session) else { return }
            try session.writeIssuerDocument(document, url: url, lifetime: lifetime, age: age, row: row)
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
    func issuerDocument(_ url: String) throws -> JSONValue.Object? { try keptDocument(url)?.document }

    private func keptDocument(_ url: String) throws -> (document: JSONValue.Object, fetchedAt: Int64)? {
        let table = SealedTable.issuerDocument
        return try connection.first(Self.documentOfURL, .text(url), .integer(now)) { row in
            guard try isIntact(row, of: table) else { return nil }
            // What cannot be read is fetched again.
            let document = (try? JSONValue(parsing: row.text(table["document"])))?.object
            return document.map { ($0, row.integer(table["fetched_at"])) }
        } ?? nil
    }

    /// Whether none is kept, or one that says something else than `document` and was not fetched after it, some seconds
    /// ago.
    fileprivate func keepsNothingNewer(than document: JSONValue.Object, of age: Int64, url: String) throws -> Bool {
        guard let kept = try keptDocument(url) else { return true }
        return kept.document != document && kept.fetchedAt <= now - age
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
    func writeIssuerDocument(
        _ document: JSONValue.Object,
        url: String,
        lifetime: Int64,
        age: Int64 = 0,
        row: Int64?
    ) throws {
        let fetchedAt = now - age
        try write(
            .issuerDocument,
            id: row,
            clear: [
                .text(url), .text(JSONValue.object(document).serialized), .integer(fetchedAt),
                .integer(fetchedAt + lifetime),
            ],
            sealed: [Secret("")]
        )
    }

    /// On a server the janitor does it: writers would wait for each other there.
    func deleteOldIssuerDocuments() throws {
        guard !connection.isServer else { return }
        try connection.run("DELETE FROM issuer_document WHERE ends_at <= ?1", .integer(now))
    }
}
