import Crypto
import OAuth
import SQLite
import Sealing

extension StoreSession {
    /// Stands for one request with one refresh token; the token itself is in it as a keyed hash only.
    func throttleKey(_ query: TokenQuery, authority: String, token: RefreshToken) throws -> [UInt8] {
        let parts = [
            query.clientID.folded, authority.lowercased(), query.account.authority, query.account.key,
            query.scope.foldedText,
        ]
        var hash = SHA256()
        for part in parts { hash.update(data: Array("\(part.utf8.count):\(part)".utf8)) }
        hash.update(data: try currentSealer().fingerprint(token.secret))
        return Array(hash.finalize())
    }

    /// What holds a request back now.
    ///
    /// A wait that begins in the future was written by a clock that has been set back since, and counts for nothing.
    func throttle(_ key: [UInt8]) throws -> Throttle? {
        let found = try connection.first(
            "SELECT ends_at, failure FROM throttle WHERE key = ?1 AND ends_at > ?2 AND ends_at <= ?2 + ?3",
            .blob(key),
            .integer(now),
            .integer(Throttle.longest)
        ) { row in
            // A failure that cannot be read is one without details; the wait counts all the same.
            let failure = (try? JSON(parsing: row.text(1)))?.object ?? JSON.Object()
            return Throttle(
                beganAt: failure[Self.beganAt]?.seconds ?? now,
                endsAt: row.integer(0),
                failure: failure
            )
        }
        return found.flatMap { $0.beganAt <= now ? $0 : nil }
    }

    /// The member of a stored failure that says when the wait began.
    private static let beganAt = "began_at"

    func writeThrottle(_ throttle: Throttle, key: [UInt8], account: Int64, client: String) throws {
        try connection.run(
            "DELETE FROM throttle WHERE ends_at <= ?1 OR ends_at > ?1 + ?2",
            .integer(now),
            .integer(Throttle.longest)
        )
        var failure = throttle.failure
        failure[Self.beganAt] = .number("\(throttle.beganAt)")
        try connection.run(
            """
            INSERT OR REPLACE INTO throttle (key, account_id, client_fold, ends_at, failure)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """,
            .blob(key),
            .integer(account),
            .text(client.folded),
            .integer(throttle.endsAt),
            .text(JSON.object(failure).serialized)
        )
    }

    /// Lets every request of an account and a client through again.
    func liftThrottles(account: Int64, client: String) throws {
        try connection.run(
            "DELETE FROM throttle WHERE account_id = ?1 AND client_fold = ?2",
            .integer(account),
            .text(client.folded)
        )
    }
}
