import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    /// The id of a row is that of its refresh token.
    ///
    /// A row that was altered is ignored.
    static let refreshAttempt = SealedTable(
        "refresh_attempt",
        isOwned: false,
        clear: ["generation", "started_at", "program", "process_id", "outcome"],
        sealed: ["mac"],
        isOwnedOnServers: true
    )
}

extension Dialect {
    /// Whether a row is of the last use of a refresh token's.
    func attempt(_ attempt: String, of token: String) -> String {
        let own = "\(attempt).id = \(token).id"
        return self == .sqlite ? own : "\(attempt).account_id = \(token).account_id AND \(own)"
    }
}

extension StoreConnection {
    /// The last use of exactly `token`.
    func attempt(_ token: StoredRefreshToken) throws -> RefreshAttempt? {
        let table = SealedTable.refreshAttempt
        return try connection.first(Self.attempt, use(of: token)) { row in
            guard try isIntact(row, of: table) else { return nil }
            return RefreshAttempt(
                startedAt: row.integer(table["started_at"]),
                program: row.text(table["program"]),
                processID: row.integer(table["process_id"]),
                hasEnded: row.optionalText(table["outcome"]) != nil
            )
        } ?? nil
    }

    /// Whether the issuer has ended the token that a row has in a generation.
    func hasEnded(_ token: Int64, generation: Int64, account: Int64) throws -> Bool {
        let table = SealedTable.refreshAttempt
        let values = [Value.integer(token), .integer(generation)] + (connection.isServer ? [.integer(account)] : [])
        return try connection.first(Self.attemptOfRow, values) { row in
            try isIntact(row, of: table) && row.optionalText(table["outcome"]) != nil
        } ?? false
    }

    private static let attemptOfRow = SQL { dialect in
        SealedTable.refreshAttempt.selection + "WHERE t.id = ?1 AND t.generation = ?2"
            + (dialect == .sqlite ? "" : " AND t.account_id = ?3")
    }

    private static let attempt = SQL { dialect in
        SealedTable.refreshAttempt.selection
            + "WHERE t.id = ?1 AND t.generation = ?2\(dialect.owned("t.account_id", rows: 3))"
    }

    private func use(of token: StoredRefreshToken) -> [Value] {
        values(.integer(token.rowID), .integer(token.generation), of: token.account)
    }

    @discardableResult
    func writeAttempt(_ token: StoredRefreshToken, account: Int64, outcome: String?) throws -> RefreshAttempt {
        let attempt = RefreshAttempt(
            startedAt: now,
            program: options.program,
            processID: Self.processID,
            hasEnded: outcome != nil
        )
        try write(
            .refreshAttempt,
            id: token.rowID,
            account: account,
            clear: [
                .integer(token.generation), .integer(attempt.startedAt), .text(attempt.program),
                .integer(attempt.processID), .optional(outcome),
            ],
            sealed: [Secret("")]
        )
        return attempt
    }

    func deleteAttempt(_ token: StoredRefreshToken) throws {
        try connection.run(Self.deletion, use(of: token))
    }

    private static let deletion = SQL { dialect in
        "DELETE FROM refresh_attempt WHERE id = ?1 AND generation = ?2\(dialect.owned("account_id", rows: 3))"
    }
}
