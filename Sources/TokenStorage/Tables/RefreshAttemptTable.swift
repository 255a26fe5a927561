import Crypto
import Database
import OAuth
import SQL
import Sealing

extension SealedTable {
    /// The id of a row is that of its refresh token, whose hash is sealed in it.
    ///
    /// A row that was altered is ignored, and so is one of another token that had this row before.
    static let refreshAttempt = SealedTable(
        "refresh_attempt",
        isOwned: false,
        clear: ["generation", "started_at", "program", "process_id", "outcome"],
        sealed: ["mac"],
        whenAltered: .countsForNothing,
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
            guard try isAttempt(row, with: token.secret) else { return nil }
            return RefreshAttempt(
                startedAt: row.integer(table["started_at"]),
                program: row.text(table["program"]),
                processID: row.integer(table["process_id"]),
                hasEnded: row.optionalText(table["outcome"]) != nil
            )
        } ?? nil
    }

    /// Asks a server what ``attempt(_:)`` will ask.
    func askAheadForAttempt(_ token: StoredRefreshToken) throws {
        try connection.askAhead(Self.attempt, use(of: token))
    }

    /// Whether a row was not altered, and says that it is of this very token.
    private func isAttempt(_ row: Row, with token: Secret) throws -> Bool {
        guard let opened = try intact({ try openIfPresent(row, of: .refreshAttempt) }) else { return false }
        // Versions before this one did not say which token it was.
        guard let proof = opened, proof.count > 0 else { return true }
        return proof == token.digest
    }

    /// Whether the issuer has ended the token that a row has in a generation; `forGood`: and no answer to an earlier use
    /// can take its place.
    func hasEnded(
        _ row: Int64,
        _ token: Secret,
        generation: Int64,
        account: Int64,
        forGood: Bool = false
    ) throws -> Bool {
        let table = SealedTable.refreshAttempt
        let values = [Value.integer(row), .integer(generation)] + (connection.isServer ? [.integer(account)] : [])
        return try connection.first(Self.attemptOfRow, values) { row in
            guard try isAttempt(row, with: token), let outcome = row.optionalText(table["outcome"])
            else { return false }
            return !forGood || outcome != RefreshAttempt.awaited
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
        try writeAttempt(attempt, of: token, account: account, outcome: outcome)
        return attempt
    }

    /// Notes an earlier use of a token again in the place of `use`, which spent nothing, if that is noted still.
    func note(
        _ earlier: RefreshAttempt,
        insteadOf use: RefreshAttempt?,
        of token: StoredRefreshToken,
        account: Int64
    ) throws {
        guard !earlier.hasEnded, try isCurrent(token), try attempt(token) == use else { return }
        try writeAttempt(earlier, of: token, account: account, outcome: nil)
    }

    private func writeAttempt(
        _ attempt: RefreshAttempt,
        of token: StoredRefreshToken,
        account: Int64,
        outcome: String?
    ) throws {
        try write(
            .refreshAttempt,
            id: token.rowID,
            account: account,
            clear: [
                .integer(token.generation), .integer(attempt.startedAt), .text(attempt.program),
                .integer(attempt.processID), .optional(outcome),
            ],
            sealed: [token.secret.digest]
        )
    }

    func deleteAttempt(_ token: StoredRefreshToken) throws {
        try connection.run(Self.deletion, use(of: token))
    }

    private static let deletion = SQL { dialect in
        "DELETE FROM refresh_attempt WHERE id = ?1 AND generation = ?2\(dialect.owned("account_id", rows: 3))"
    }
}

extension Secret {
    /// Identifies the secret independently of the data key.
    fileprivate var digest: Secret {
        var hash = SHA256()
        withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.finalize().withUnsafeBytes { Secret(copying: $0) }
    }
}
