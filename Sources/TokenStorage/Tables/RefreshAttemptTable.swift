import OAuth
import SQL
import SQLite
import Sealing

extension SealedTable {
    /// The id of a row is that of its refresh token.
    ///
    /// A row that was altered is ignored.
    static let refreshAttempt = SealedTable(
        "refresh_attempt",
        isOwned: false,
        clear: ["generation", "started_at", "program", "process_id", "outcome"],
        sealed: ["mac"]
    )
}

extension StoreConnection {
    /// The last use of exactly `token`.
    func attempt(_ token: StoredRefreshToken) throws -> RefreshAttempt? {
        let table = SealedTable.refreshAttempt
        return try connection.first(Self.attempt, .integer(token.rowID), .integer(token.generation)) { row in
            guard try isIntact(row, of: table) else { return nil }
            return RefreshAttempt(
                startedAt: row.integer(table["started_at"]),
                program: row.text(table["program"]),
                processID: row.integer(table["process_id"]),
                hasEnded: row.optionalText(table["outcome"]) != nil
            )
        } ?? nil
    }

    private static let attempt = SQL(SealedTable.refreshAttempt.selection + "WHERE t.id = ?1 AND t.generation = ?2")

    func writeAttempt(_ token: StoredRefreshToken, outcome: String?) throws {
        try write(
            .refreshAttempt,
            id: token.rowID,
            clear: [
                .integer(token.generation), .integer(now), .text(options.program), .integer(Self.processID),
                .optional(outcome),
            ],
            sealed: [Secret("")]
        )
    }

    func deleteAttempt(_ token: StoredRefreshToken) throws {
        try connection.run(
            "DELETE FROM refresh_attempt WHERE id = ?1 AND generation = ?2",
            .integer(token.rowID),
            .integer(token.generation)
        )
    }
}
