import Crypto
import Database
package import OAuth
import SQL
import Sealing

extension SealedTable {
    /// One that was altered counts for nothing.
    static let throttle = SealedTable(
        "throttle",
        isOwned: true,
        clear: ["key", "client_fold", "ends_at", "failure"],
        sealed: ["mac"],
        whenAltered: .countsForNothing
    )
}

extension StoreConnection {
    /// The key of one request with one refresh token; it contains the token as a keyed hash only.
    func throttleKey(_ query: TokenQuery, authority: String, token: StoredRefreshToken) throws -> [UInt8] {
        let parts = [
            query.clientID.folded, authority.lowercased(), query.account.issuer, query.account.key,
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
    func throttle(_ key: [UInt8], of account: Account.ID) throws -> Throttle? {
        let table = SealedTable.throttle
        let found =
            try connection.first(Self.throttleAlike, place(of: key, account)) { row -> Throttle? in
                guard try isIntact(row, of: table) else { return nil }
                // A failure that cannot be read is one without details; the wait counts all the same.
                let failure = (try? JSONValue(parsing: row.text(table["failure"])))?.object ?? JSONValue.Object()
                return Throttle(
                    beganAt: failure[Self.beganAt]?.seconds ?? now,
                    expiresAt: row.integer(table["ends_at"]),
                    isAskedFor: failure[Self.isAskedFor] == .bool(true),
                    failure: failure
                )
            } ?? nil
        return found.flatMap { $0.beganAt <= now ? $0 : nil }
    }

    /// Asks a server what ``throttle(_:of:)`` will ask.
    func askAheadForThrottle(_ key: [UInt8], of account: Account.ID) throws {
        try connection.askAhead(Self.throttleAlike, place(of: key, account))
    }

    private func place(of key: [UInt8], _ account: Account.ID) -> [Value] {
        values(
            .text(account.key),
            .text(account.issuer),
            .blob(key),
            .integer(now),
            .integer(Throttle.longest),
            of: account
        )
    }

    private static let throttleAlike = SealedTable.throttle.ownedRows { dialect in
        """
        WHERE \(dialect.account("a", key: "?1", authority: "?2", rows: 6, owners: ["t.account_id"]))
            AND t.key = ?3 AND t.ends_at > ?4 AND t.ends_at <= ?4 + ?5
        """
    }

    /// The member of a stored failure that says when the wait began.
    private static let beganAt = "began_at"

    /// The one that says whether the issuer asked for it.
    private static let isAskedFor = "asked_for"

    func writeThrottle(_ throttle: Throttle, key: [UInt8], account: Int64, client: String) throws {
        if !connection.isServer { try deleteEndedThrottles() }
        var failure = throttle.failure
        failure[Self.beganAt] = .number("\(throttle.beganAt)")
        failure[Self.isAskedFor] = .bool(throttle.isAskedFor)
        try connection.run("DELETE FROM throttle WHERE account_id = ?2 AND key = ?1", .blob(key), .integer(account))
        try write(
            .throttle,
            id: nil,
            account: account,
            clear: [
                .blob(key), .text(client.folded), .integer(throttle.expiresAt),
                .text(JSONValue.object(failure).serialized),
            ],
            sealed: [Secret("")]
        )
    }

    func deleteEndedThrottles() throws {
        try connection.run(
            "DELETE FROM throttle WHERE ends_at <= ?1 OR ends_at > ?1 + ?2",
            .integer(now),
            .integer(Throttle.longest)
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

/// A request that is not to be repeated for a while, and the failure that it would meet.
package struct Throttle: Hashable, Sendable {
    /// The longest throttle in seconds, even if an issuer asks for more.
    package static let longest: Int64 = 3_600

    /// Unix seconds.
    package let beganAt: Int64
    package let expiresAt: Int64

    /// Whether the issuer asked for the wait, which then holds for everyone; another one is the store's own.
    package let isAskedFor: Bool

    /// What the issuer answered, as the caller that recorded it wrote it.
    package let failure: JSONValue.Object

    package init(beganAt: Int64, expiresAt: Int64, isAskedFor: Bool = false, failure: JSONValue.Object) {
        self.beganAt = beganAt
        self.expiresAt = expiresAt
        self.isAskedFor = isAskedFor
        self.failure = failure
    }
}
