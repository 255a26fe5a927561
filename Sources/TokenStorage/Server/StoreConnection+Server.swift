import Database
import OAuth
import SQL

/// What a transaction leaves that tells afterwards whether it happened: its entries in the record of use, or else a row
/// that it made.
///
/// The server's own answer, `pg_xact_status`, is wrong after a failover: the new primary has given the number of the
/// transaction to another.
struct CommitWitness {
    /// Its number, which is asked only whether it is under way still; nil where rows are spread over machines.
    var transaction: Int64?

    /// The session of one that was sent without asking for its number.
    var session: PostgreSQL.Connection.Session?

    /// Row and owner of each entry.
    var events: [(id: Int64, owner: Int64)] = []

    /// The last row that it made, whose id no other process gives.
    var newRow: (table: SealedTable, id: Int64, owner: Int64?)?

    /// The accounts whose rows were locked: who locks them again waits for the end of the transaction.
    var accounts: Set<Account.ID> = []

    /// What is told to who keeps tokens in memory.
    var changes: [ServerChange] = []

    /// Of the sign-in of a newcomer.
    var turn: SignInExperience.Turn?
}

/// A transaction of which it is not known whether it happened.
private struct UnsettledCommit<Result> {
    let witness: CommitWitness

    /// What it returns if it did.
    let result: Result
}

extension StoreConnection {
    /// Runs `body` in a transaction on the server, again from its start where it did not happen.
    ///
    /// Where the answer to the commit was lost, the record of use tells whether it happened; then `body` is not run
    /// again, and what it returned counts.
    func writeOnServer<Result>(_ body: () throws -> Result) throws -> Result {
        // A transaction inside another is part of it.
        if connection.isInTransaction { return try body() }
        defer { witness.turn = nil }
        var end = deadline ?? ContinuousClock.now + options.busyTimeout
        var (pauses, collisions, isLost) = (Pauses(), 0, false)
        var unsettled: UnsettledCommit<Result>?
        while true {
            witness = CommitWitness()
            var finished: Result?
            do {
                if isLost { try reconnect(until: end) }
                let result = try transact(body, unless: unsettled, finishing: &finished)
                if presumption != nil { experience?.learn(isNewcomer: true) }
                if !witness.changes.isEmpty { didChange?(witness.changes) }
                return result
            } catch let error as PostgreSQLError {
                let wasPresumed = presumption != nil
                presumption = nil
                if wasPresumed, error.refutesPresumption { continue }
                if error.state == .lostAfterCommit, let finished {
                    // Only the server can say whether it happened. One that says nothing had its time, unless a session
                    // depends on it.
                    if unsettled == nil, error.code != .timedOut || isStoringAnswer {
                        end = max(end, ContinuousClock.now + options.busyTimeout)
                    }
                    unsettled = UnsettledCommit(witness: witness, result: finished)
                }
                guard mayRepeat(after: error, &collisions), ContinuousClock.now < end else {
                    // That it happened is known where only a standby may not have it.
                    let isKnown = unsettled == nil || error.code == .notReplicated
                    throw isKnown ? error : TokenStoreError(unsettled: error, at: location)
                }
                if error.isPassing { willRetry?(error) }
                pauses.next(until: end)
                isLost = error.state != .usable || error.code == .readOnlyTransaction && hasOtherHosts
            }
        }
    }

    /// Runs `body` in one transaction, unless an earlier one is found to have happened; then what that returned counts.
    ///
    /// `finished` is what `body` returned, also where the commit then fails.
    private func transact<Result>(
        _ body: () throws -> Result,
        unless unsettled: UnsettledCommit<Result>?,
        finishing finished: inout Result?
    ) throws -> Result {
        try connection.write {
            isWriting = true
            defer { isWriting = false }
            if let unsettled, try hasHappened(unsettled.witness) {
                witness = unsettled.witness
                tellAfterCommit()
                return unsettled.result
            }
            mayHaveHappened = unsettled != nil
            defer { mayHaveHappened = false }
            let result = try body()
            finished = result
            tellAfterCommit()
            return result
        }
    }

    /// Whether another server may be had where one cannot be written to.
    private var hasOtherHosts: Bool { location.address.map { $0.hosts.count > 1 } ?? false }

    /// How often a row may be in the way of another; who only waits for each other tries until the time is up.
    private static let collisionLimit = 8

    /// Whether a transaction may succeed when it begins again, as far as one error tells.
    private func mayRepeat(after error: PostgreSQLError, _ collisions: inout Int) -> Bool {
        if error.code == .readOnlyTransaction, location.address?.isOnlyRead == true { return false }
        guard error.isCollision, !error.code.isRetryable else { return error.code.isRetryable || error.isPassing }
        collisions += 1
        return collisions < Self.collisionLimit
    }

    /// Has the other nodes told what was changed, behind the commit: in it, all commits of the server would wait for
    /// each other.
    private func tellAfterCommit() {
        guard !witness.changes.isEmpty, case .server(let server) = connection.engine else { return }
        defer { witness.turn = nil }
        guard witness.turn?.isToTell() ?? true else { return }
        server.tellAfterCommit(
            "SELECT pg_notify(?1, ?2)",
            .text(ServerChange.channel(of: header.storeID)),
            .text(ServerChange.text(witness.changes))
        )
    }

    /// Whether a transaction whose end is not known did happen; false where it left nothing that tells.
    private func hasHappened(_ witness: CommitWitness) throws -> Bool {
        // What is there was committed, whether its session has ended or not.
        if try isSeen(witness) { return true }
        try requireEnd(of: witness)
        return try isSeen(witness)
    }

    private static let witnessedEvent = SQL { _ in
        """
        SELECT pg_catalog.pg_logical_emit_message(true, 'tokenstore'::text, ''::text)::text FROM event
        WHERE account_id IN (?1, 0, \(goneOwner)) AND id = ?2
        """
    }

    /// Whether there is what a transaction has left.
    ///
    /// It is seen before a synchronous standby has it, where the wait for that was cut off. So a look that finds it
    /// writes to the server's log: this transaction's commit waits for a standby that has all of the log up to there.
    private func isSeen(_ witness: CommitWitness) throws -> Bool {
        if let event = witness.events.last {
            // The entry goes on without its account if another node has deleted that meanwhile.
            return try connection.first(Self.witnessedEvent, [.integer(event.owner), .integer(event.id)]) { _ in true }
                ?? false
        }
        guard let (table, id, owner) = witness.newRow else { return false }
        let isOfOwner = owner == nil ? "" : " AND account_id = ?2"
        let statement = try connection.prepare(
            """
            SELECT pg_catalog.pg_logical_emit_message(true, 'tokenstore'::text, ''::text)::text FROM \(table.name)
            WHERE id = ?1\(isOfOwner)
            """
        )
        let values = [id] + (owner.map { [$0] } ?? [])
        return try statement.first(values.map(Value.integer)) { _ in true } ?? false
    }

    /// Makes sure that a transaction is over: the server may have its statements, and not have come to them yet.
    ///
    /// - Throws: an error that passes, if it is not.
    func requireEnd(of witness: CommitWitness) throws {
        // Until then it holds its own number, and the rows that it has locked.
        if let transaction = witness.transaction, try connection.integer(Self.lock, .integer(transaction)) != nil {
            throw PostgreSQLError(.lockNotAvailable, "the server is still busy with a transaction that was cut off")
        }
        if let session = witness.session, try isThere(session) {
            throw PostgreSQLError(.lockNotAvailable, "the server is still busy with a session that was cut off")
        }
        for account in witness.accounts { _ = try accountRow(account) }
    }

    private func isThere(_ session: PostgreSQL.Connection.Session) throws -> Bool {
        try connection.integer(Self.sessionOfProcess, .integer(session.process), .integer(session.start)) != nil
    }

    /// Another may have the number of its process by now, and has begun at another time.
    private static let sessionOfProcess = SQL(
        """
        SELECT 1 FROM pg_stat_get_activity(CAST(CAST(?1 AS bigint) AS integer)) a
        WHERE CAST(extract(epoch FROM a.backend_start) * 1000000::numeric AS bigint) = ?2
        """
    )

    private static let lock = SQL(
        """
        SELECT 1 FROM pg_locks WHERE locktype = 'transactionid' AND granted
            AND transactionid = CAST(CAST(CAST(?1 AS bigint) AS text) AS xid8)::xid
        """
    )

    /// Takes another connection in place of one that is lost, or leads to a server that cannot be written to.
    private func reconnect(until end: ContinuousClock.Instant) throws {
        guard let reconnects else { return }
        if case .server(let server) = connection.engine { server.close() }
        var pauses = Pauses()
        while true {
            do {
                connection = try reconnects()
                return
            } catch let error as PostgreSQLError {
                guard error.isPassing, ContinuousClock.now < end else { throw error }
                willRetry?(error)
                pauses.next(until: end)
            }
        }
    }

    /// Makes sure that this program may write, and returns the current data key; nil where there is none.
    ///
    /// Asked in every transaction: the store may have been moved or brought to a newer version while this program ran.
    /// ``holdStore()`` keeps off a rekey, which would retire what is sealed under the key meanwhile, and a move, which
    /// would leave behind what is written.
    func writableDataKeyID() throws -> Int64? {
        if let presumption { return try require(presumption) }
        let found = try connection.first(writableKey) {
            (
                id: $0.integer(0), floor: Int($0.integer(1)), version: Int($0.integer(2)), writer: $0.text(3),
                isHere: $0.isNull(4), transaction: $0.optionalInteger(5), storeID: $0.blob(6)
            )
        }
        guard let found else { return nil }
        guard found.storeID == header.storeID else { throw ReplacedStore() }
        witness.transaction = found.transaction
        guard found.floor <= options.serverSchema.version else {
            throw TokenStoreError.newerStore(version: found.version, writtenBy: found.writer, isReadable: true)
        }
        // Without a key nothing can be added, and what is left may be deleted.
        if !found.isHere, !isWithoutKey { throw MissingDataKeys() }
        return found.id
    }

    func askAheadForKey() throws {
        try holdStore()
        try connection.askAhead(writableKey)
    }

    /// Has a rekey, a move and a migration wait until the end of this transaction, as they lock these tables.
    ///
    /// The tables alone are locked and no row in them: of the locks of rows that several transactions share the server
    /// keeps a record on its disk, which costs it more than a row of a sign-in does, and where rows are spread such a lock
    /// is one of the whole table, so that all writers would wait for each other.
    func holdStore() throws {
        guard connection.isServer else { return }
        try connection.run("SELECT 1 FROM store s, data_key k WHERE false FOR SHARE")
    }

    /// Where rows are spread, another machine may answer, which has a number of its own for the transaction.
    private var writableKey: SQL {
        guard case .server(let server) = connection.engine, server.spreadsRows else { return Self.writableKey }
        return Self.writableKeyOfMany
    }

    private static let writableKey = SQL(currentKey("CAST(CAST(pg_current_xact_id() AS text) AS bigint)"))
    private static let writableKeyOfMany = SQL(currentKey("CAST(NULL AS bigint)"))

    private static func currentKey(_ transaction: String) -> String {
        """
        SELECT k.id, s.writer_floor, s.schema_version, s.written_by, s.moved_to, \(transaction), s.store_id
        FROM data_key k CROSS JOIN store s WHERE k.is_current = 1
        """
    }

    /// Runs `body`, of which one statement may be about all rows of a table: a server gets some minutes for each.
    func withLongStatements<Result>(_ body: () throws -> Result) throws -> Result {
        guard connection.isServer else { return try body() }
        return try connection.withBusyTimeout(max(connection.busyTimeout, .seconds(600)), body)
    }

    /// Holds back every other work on many accounts, which would wait for accounts that this one has locked, and this
    /// one for theirs.
    func lockForManyAccounts() throws {
        guard connection.isServer else { return }
        _ = try connection.integer("SELECT id FROM store WHERE id = 1 FOR NO KEY UPDATE")
    }
}

/// Another store, under other keys, took the place of the one that was open, which was deleted or restored from a copy.
struct ReplacedStore: Error {}
