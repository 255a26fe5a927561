import OAuth
import SQLite
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension StoreConnection {
    /// Adds an entry to the record of use, and forgets the oldest ones.
    func record(
        _ kind: StoreEvent.Kind,
        outcome: String = "done",
        account: Account.ID? = nil,
        client: String? = nil,
        refreshToken: Secret? = nil
    ) throws {
        try write(
            .event,
            id: nextID("SELECT max(id) FROM event"),
            clear: [
                .integer(now), .text(options.program), .integer(Int64(getpid())), .text(kind.rawValue), .text(outcome),
                .optional(try account.map { try newMark(of: $0) }), .optional(client),
                .optional(try refreshToken.map { try currentSealer().fingerprint($0) }),
            ],
            sealed: [Secret("")],
            derived: [.optional(try account.flatMap { try accountRow($0) })]
        )
        try connection.run("DELETE FROM event WHERE id <= (SELECT max(id) FROM event) - ?1", .integer(StoreEvent.limit))
    }

    /// The family of a client: nil if it is known to be in none, `.some(nil)` if nothing is known.
    func family(of client: String, environment: String) throws -> AppFamily {
        let group = Cloud.group(of: environment)
        var found: AppFamily?
        try connection.forEach(Self.familiesOfClient, .text(client.folded)) { row in
            guard found == nil, Cloud.group(of: row.text(SealedTable.appMetadata["environment"])) == group else {
                return
            }
            try verify(row, of: .appMetadata)
            found = row.optionalText(SealedTable.appMetadata["family_id"]).map(AppFamily.member) ?? AppFamily.none
        }
        return found ?? .unknown
    }

    private static let familiesOfClient = SQL(SealedTable.appMetadata.selection + "WHERE t.client_fold = ?1")
    private static let metadataAlike = SQL(
        SealedTable.appMetadata.selection + "WHERE t.client_fold = ?1 AND t.environment = ?2"
    )

    /// Records the family of a client.
    ///
    /// - Returns: whether anything changed.
    func saveAppMetadata(client: String, environment: String, family: String?, extra: JSON.Object) throws -> Bool {
        let table = SealedTable.appMetadata
        let known = try connection.first(Self.metadataAlike, .text(client.folded), .text(environment)) { row in
            (
                id: row.integer(0), client: row.text(table["client_id"]), family: row.optionalText(table["family_id"]),
                extra: try intact { try openMembers(row, of: table) }
            )
        }
        let merged = known?.extra?.merging(extra) ?? extra
        if let known, known.family == family, known.extra == merged { return false }
        try write(
            table,
            id: known?.id ?? nextID("SELECT max(id) FROM app_metadata"),
            clear: [
                .text(known?.extra == nil ? client : known?.client ?? client), .text(client.folded), .text(environment),
                .optional(family),
            ],
            sealed: [Secret(merged)]
        )
        return true
    }
}

/// Whether a client shares refresh tokens with a family of clients.
enum AppFamily: Equatable {
    /// Nothing is known: the family's token is worth a try.
    case unknown
    case none
    case member(String)
}
