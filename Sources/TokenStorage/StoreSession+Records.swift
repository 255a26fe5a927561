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

extension StoreSession {
    /// Adds an entry to the record of use, and forgets the oldest ones.
    func record(
        _ kind: StoreEvent.Kind,
        outcome: String = "done",
        account: Account.ID? = nil,
        client: String? = nil,
        refreshToken: Secret? = nil
    ) throws {
        try connection.run(
            """
            INSERT INTO event (at, program, process_id, kind, outcome, account_id, account_mark, client_id, fingerprint)
            VALUES (?1, ?2, ?3, ?4, ?5, (SELECT id FROM account WHERE home_account_fold = ?6 AND authority = ?7), ?8, ?9,
                ?10)
            """,
            .integer(now),
            .text(options.program),
            .integer(Int64(getpid())),
            .text(kind.rawValue),
            .text(outcome),
            .optional(account?.key),
            .optional(account?.authority),
            .optional(try account.map { try newMark(of: $0) }),
            .optional(client),
            .optional(try refreshToken.map { try currentSealer().fingerprint($0) })
        )
        try connection.run("DELETE FROM event WHERE id <= (SELECT max(id) FROM event) - ?1", .integer(StoreEvent.limit))
    }

    /// The family of a client: nil if it is known to be in none, `.some(nil)` if nothing is known.
    func family(of client: String, environment: String) throws -> AppFamily {
        let rows = try connection.all(
            "SELECT environment, family_id FROM app_metadata WHERE client_fold = ?1",
            .text(client.folded)
        ) { ($0.text(0), $0.optionalText(1)) }
        let group = Cloud.group(of: environment)
        guard let row = rows.first(where: { Cloud.group(of: $0.0) == group }) else { return .unknown }
        return row.1.map(AppFamily.member) ?? .none
    }

    /// Records the family of a client.
    ///
    /// - Returns: whether anything changed.
    func saveAppMetadata(client: String, environment: String, family: String?, extra: JSON.Object) throws -> Bool {
        let known = try connection.first(
            "SELECT id, family_id, extra FROM app_metadata WHERE client_fold = ?1 AND environment = ?2",
            .text(client.folded),
            .text(environment)
        ) { row in
            let place = SealedPlace(table: "app_metadata", column: "extra", row: row.integer(0))
            return (row.integer(0), row.optionalText(1), try openMembers(row, 2, as: place))
        }
        let merged = known?.2.merging(extra) ?? extra
        if let known, known.1 == family, known.2 == merged { return false }
        let id = try known?.0 ?? nextID("SELECT max(id) FROM app_metadata")
        try connection.run(
            """
            INSERT INTO app_metadata (id, client_id, client_fold, environment, family_id, extra)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (id) DO UPDATE SET family_id = excluded.family_id, extra = excluded.extra
            """,
            .integer(id),
            .text(client),
            .text(client.folded),
            .text(environment),
            .optional(family),
            .optional(try sealMembers(merged, as: SealedPlace(table: "app_metadata", column: "extra", row: id)))
        )
        return true
    }
}
