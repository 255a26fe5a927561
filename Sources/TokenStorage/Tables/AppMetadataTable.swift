import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    static let appMetadata = SealedTable(
        "app_metadata",
        isOwned: false,
        clear: ["client_id", "client_fold", "environment", "family_id"],
        sealed: ["extra"],
        kept: ["client_fold", "environment"]
    )
}

/// The row of a client at a host.
struct AppMetadataRow {
    let clientID: String
    let environment: String
    let familyID: String?

    /// Every field not known here.
    let extra: JSONValue.Object
}

extension StoreConnection {
    /// What is known of the family that a client is in.
    ///
    /// Of several hosts that share accounts the one that is asked about says it, else one that says a family.
    func family(of client: String, environment: String) throws -> AppFamily {
        let group = Cloud.group(of: environment)
        var found: AppFamily?
        try connection.forEach(Self.familiesOfClient, .text(client.folded), .text(environment)) { row in
            guard found == nil, Cloud.group(of: row.text(SealedTable.appMetadata["environment"])) == group else {
                return
            }
            try verify(row, of: .appMetadata)
            found = row.optionalText(SealedTable.appMetadata["family_id"]).map(AppFamily.member) ?? AppFamily.none
        }
        return found ?? .unknown
    }

    private static let familiesOfClient = SQL(
        SealedTable.appMetadata.selection
            + "WHERE t.client_fold = ?1 ORDER BY t.environment <> ?2, t.family_id IS NULL, t.environment"
    )

    private static let alike = SealedTable.appMetadata.selection + "WHERE t.client_fold = ?1 AND t.environment = ?2"
    private static let metadataAlike = SQL(alike)
    private static let lockedMetadataAlike = SQL(alike + " FOR UPDATE")

    /// Asks a server what ``saveAppMetadata(client:environment:family:extra:)`` will ask.
    func askAheadForAppMetadata(client: String, environment: String) throws {
        try connection.askAhead(Self.metadataAlike, .text(client.folded), .text(environment))
    }

    /// Records the family of a client; or only fields that are new of a client which is known.
    ///
    /// - Returns: whether anything changed.
    func saveAppMetadata(
        client: String,
        environment: String,
        family: String?,
        extra: JSONValue.Object,
        onlyFills: Bool = false
    ) throws -> Bool {
        // The server looks whether there is nothing to change.
        if presumption != nil { return false }
        let stored = try metadata(Self.metadataAlike, client: client, environment: environment)
        var (family, extra) = (family, extra)
        if onlyFills, let stored, let known = stored.extra {
            (family, extra) = (stored.family, extra.merging(known))
        }
        if let stored, stored.says(family, extra) {
            let known = KnownClient(fold: client.folded, environment: environment, family: family)
            experience?.learn(known, sealed: stored.sealed)
            return false
        }
        // All sign-ins of a client read it, and hardly one changes it: it is locked for that alone. Another node may
        // have been first.
        let isShared = connection.isServer && stored != nil
        let known =
            try isShared ? metadata(Self.lockedMetadataAlike, client: client, environment: environment) : stored
        if isShared, let known, known.says(family, extra) { return false }
        try write(
            .appMetadata,
            id: known?.id,
            clear: [
                .text(known?.extra == nil ? client : known?.client ?? client), .text(client.folded), .text(environment),
                .optional(family),
            ],
            sealed: [Secret(known?.extra?.merging(extra) ?? extra)]
        )
        return true
    }

    private func metadata(_ sql: SQL, client: String, environment: String) throws -> StoredMetadata? {
        let table = SealedTable.appMetadata
        return try connection.first(sql, .text(client.folded), .text(environment)) { row in
            StoredMetadata(
                id: row.integer(0),
                client: row.text(table["client_id"]),
                family: row.optionalText(table["family_id"]),
                sealed: experience == nil ? [] : row.blob(table.firstSealed),
                extra: try intact { try openMembers(row, of: table) }
            )
        }
    }

    /// Calls `body` with each client that has metadata, by its folded id, and the environment of that.
    func forEachEnvironmentOfClients(_ body: (_ client: String, _ environment: String) throws -> Void) throws {
        try connection.forEach("SELECT client_fold, environment FROM app_metadata") { try body($0.text(0), $0.text(1)) }
    }

    /// The environments at `host`, with a port or without, that are known of a client; both are folded.
    func environments(host: String, ofClient client: String) throws -> Set<String> {
        // Two questions, each of which an index answers: a client may be known at many hosts.
        Set(
            try connection.all(
                """
                SELECT environment FROM app_metadata WHERE client_fold = ?1 AND environment = ?2 UNION ALL
                SELECT environment FROM app_metadata WHERE client_fold = ?1 AND environment > ?3 AND environment < ?4
                """,
                .text(client),
                .text(host),
                .text(host + ":"),
                .text(host + ";")
            ) { $0.text(0) }
        )
    }

    private static let allMetadata = SQL(SealedTable.appMetadata.selection + "ORDER BY t.id")

    func forEachAppMetadata(_ body: (AppMetadataRow) throws -> Void) throws {
        let table = SealedTable.appMetadata
        try connection.forEach(Self.allMetadata) { row in
            try body(
                AppMetadataRow(
                    clientID: row.text(table["client_id"]),
                    environment: row.text(table["environment"]),
                    familyID: row.optionalText(table["family_id"]),
                    extra: try openMembers(row, of: table)
                )
            )
        }
    }
}

/// What the store has of a client at a host.
private struct StoredMetadata {
    let id: Int64
    let client: String
    let family: String?

    /// What a server has of ``extra``.
    let sealed: [UInt8]

    /// nil where the row was altered.
    let extra: JSONValue.Object?

    /// Whether these would change nothing.
    func says(_ family: String?, _ extra: JSONValue.Object) -> Bool {
        self.family == family && self.extra.map { $0.merging(extra) == $0 } ?? false
    }
}

/// Whether a client shares refresh tokens with a family of clients.
enum AppFamily: Equatable {
    /// Nothing is known: the family's token is worth a try.
    case unknown
    case none
    case member(String)
}
