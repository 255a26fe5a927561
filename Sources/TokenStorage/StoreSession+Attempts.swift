import OAuth
import SQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension StoreSession {
    /// The last use of exactly `token`.
    func attempt(_ token: RefreshToken) throws -> RefreshAttempt? {
        try connection.first(
            """
            SELECT started_at, program, process_id, outcome FROM refresh_attempt
            WHERE refresh_token_id = ?1 AND generation = ?2
            """,
            .integer(token.rowID),
            .integer(token.generation)
        ) { row in
            RefreshAttempt(
                startedAt: row.integer(0),
                program: row.text(1),
                processID: row.integer(2),
                hasEnded: row.optionalText(3) != nil
            )
        }
    }

    func writeAttempt(_ token: RefreshToken, outcome: String?) throws {
        try connection.run(
            """
            INSERT OR REPLACE INTO refresh_attempt (refresh_token_id, generation, started_at, program, process_id, outcome)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            .integer(token.rowID),
            .integer(token.generation),
            .integer(now),
            .text(options.program),
            .integer(Int64(getpid())),
            .optional(outcome)
        )
    }

    func forgetAttempt(_ token: RefreshToken) throws {
        try connection.run(
            "DELETE FROM refresh_attempt WHERE refresh_token_id = ?1 AND generation = ?2",
            .integer(token.rowID),
            .integer(token.generation)
        )
    }
}
