public import OAuth
import SQLite

extension TokenStore {
    /// Signs an account out of a client: its tokens of this client go from every host and tenant, and the sign-out is
    /// remembered, so that neither a refresh in flight nor a sibling's refresh token brings it back.
    ///
    /// The account itself goes when no client has a token of it any more. Doing it twice is no error.
    public func removeAccount(_ account: Account.ID, client: String) throws {
        try forgetting { session in
            guard let row = try session.accountRow(account) else {
                return try session.keepSignOut(of: account, client: client)
            }
            try session.setSignInState(.signedOut, of: row, client: client)
            try session.deleteTokens(of: row, client: client)
            let isGone = try session.deleteAccountWithoutTokens(row, account)
            try session.deleteForeignEntries(of: [account], client: isGone ? nil : client)
            try session.record(.signOut, account: account, client: client)
        }
    }

    /// Removes an account with the tokens and claims of every client, and marks it signed out everywhere.
    public func wipeAccount(_ account: Account.ID) throws {
        try forgetting { session in
            guard let row = try session.accountRow(account) else { return }
            for client in try session.clientIDs(row) + session.signedInClients(row) {
                try session.setSignInState(.signedOut, of: row, client: client)
            }
            try session.keepSignOuts(of: account, row: row)
            try session.deleteAccount(row)
            try session.deleteForeignEntries(of: [account])
            try session.record(.signOut, account: account)
        }
    }

    /// Deletes access tokens that have ended, and nothing else; needs no key.
    public func purgeExpired(dryRun: Bool = false) throws -> PurgeCounts {
        try forgetting(dryRun: dryRun) { session in
            var counts = PurgeCounts()
            let now = session.now
            counts.accessTokens = Int(
                try session.connection.integer(
                    "SELECT count(*) FROM access_token WHERE expires_on <= ?1",
                    .integer(now)
                ) ?? 0
            )
            if !dryRun, counts.accessTokens > 0 {
                try session.connection.run("DELETE FROM access_token WHERE expires_on <= ?1", .integer(now))
                try session.record(.purge, outcome: "expired")
            }
            return counts
        }
    }

    /// Deletes the accounts that `policy` leaves with all their tokens and claims.
    public func purge(_ policy: AccountPolicy, dryRun: Bool = false) throws -> PurgeCounts {
        try forgetting(dryRun: dryRun) { session in
            var counts = PurgeCounts()
            let rows = try session.accountRows(matching: policy)
            for row in rows { try session.count(row, in: &counts) }
            guard !dryRun, !rows.isEmpty else { return counts }
            try session.deleteForeignEntries(of: rows.compactMap { try session.accountID($0) })
            for row in rows { try session.deleteAccount(row) }
            try session.record(.purge, outcome: "\(counts.accounts) accounts")
            return counts
        }
    }

    /// Runs `body` in a write transaction and then empties the log, so that what was deleted is in no file.
    ///
    /// - Throws: ``TokenStoreError/busy(_:)`` if another process reads an older state for longer than the time limit;
    ///   the rows are deleted all the same.
    @discardableResult
    package func forgetting<Result: Sendable>(
        dryRun: Bool = false,
        _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        // A dry run must not create the store it looks at, nor wait for a writer.
        if dryRun { return try read(body) }
        return try withWriter { session in
            let result = try session.write { try body(session) }
            try session.emptyLog()
            return result
        }
    }
}

extension StoreSession {
    /// Empties the write-ahead log, which holds old pages until then.
    func emptyLog() throws {
        guard try !connection.checkpointTruncating() else { return }
        throw TokenStoreError.busy(
            "the change is made, but another process still reads the log of \(path.database), which holds the old rows "
                + "sealed; run 'tokenstore purge' when it is done"
        )
    }

    fileprivate func deleteTokens(of account: Int64, client: String) throws {
        for statement: StaticString in [
            "DELETE FROM access_token WHERE account_id = ?1 AND client_fold = ?2",
            "DELETE FROM refresh_token WHERE account_id = ?1 AND client_fold = ?2",
            "DELETE FROM id_token WHERE account_id = ?1 AND client_fold = ?2",
        ] {
            try connection.run(statement, .integer(account), .text(client.folded))
        }
    }

    /// Deletes an account that no client has a token of, but for its sign-outs.
    ///
    /// - Returns: whether it was one.
    fileprivate func deleteAccountWithoutTokens(_ row: Int64, _ id: Account.ID) throws -> Bool {
        let hasTokens = try connection.integer(
            """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM access_token WHERE account_id = ?1)
                OR EXISTS (SELECT 1 FROM refresh_token WHERE account_id = ?1)
                OR EXISTS (SELECT 1 FROM id_token WHERE account_id = ?1)
            """,
            .integer(row)
        )
        guard hasTokens == nil else { return false }
        try keepSignOuts(of: id, row: row)
        try deleteAccount(row)
        return true
    }

    /// Deletes an account; every other row of it goes too.
    fileprivate func deleteAccount(_ row: Int64) throws {
        try connection.run("DELETE FROM account WHERE id = ?1", .integer(row))
    }

    fileprivate func count(_ account: Int64, in counts: inout PurgeCounts) throws {
        counts.accounts += 1
        try connection.forEach(
            """
            SELECT (SELECT count(*) FROM access_token WHERE account_id = ?1),
                (SELECT count(*) FROM refresh_token WHERE account_id = ?1),
                (SELECT count(*) FROM id_token WHERE account_id = ?1)
            """,
            .integer(account)
        ) { row in
            counts.accessTokens += Int(row.integer(0))
            counts.refreshTokens += Int(row.integer(1))
            counts.idTokens += Int(row.integer(2))
        }
    }
}
