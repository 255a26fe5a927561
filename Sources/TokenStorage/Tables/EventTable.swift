import Database
package import OAuth
import SQL
import Sealing

extension SealedTable {
    /// An altered entry is ignored.
    ///
    /// The row of the account must be the one of the mark, and is deleted with it.
    static let event = SealedTable(
        "event",
        isOwned: false,
        clear: ["at", "program", "process_id", "kind", "outcome", "account_mark", "client_id", "fingerprint"],
        sealed: ["mac"],
        derived: ["account_id"],
        whenAltered: .countsForNothing
    )
}

extension StoreConnection {
    /// Adds an entry to the record of use, and forgets the oldest ones but for moves and what is unfinished.
    package func record(
        _ kind: StoreEvent.Kind,
        outcome: String = "done",
        account: Account.ID? = nil,
        client: String? = nil,
        refreshToken: Secret? = nil
    ) throws {
        let owner = try account.flatMap { try accountRow($0) ?? absentOwner }
        let id = try write(
            .event,
            id: nil,
            clear: [
                .integer(now), .text(options.program), .integer(Self.processID), .text(kind.rawValue), .text(outcome),
                .optional(try account.map { try newMark(of: $0) }), .optional(client),
                .optional(try refreshToken.map { try fingerprint(of: $0) }),
            ],
            sealed: [Secret("")],
            derived: [self.owner(owner)]
        )
        entryCount += 1
        guard !connection.isServer else {
            witness.events.append((id, owner ?? 0))
            let number = account.map { AccountRowID.first($0, mask: options.accountRowMask) }
            return witness.changes.append(ServerChange(event: id, account: number ?? 0))
        }
        try connection.run(
            "DELETE FROM event WHERE id <= (SELECT max(id) FROM event) - ?1 AND kind NOT IN (?2, ?3)",
            .integer(StoreEvent.limit),
            .text(StoreEvent.Kind.erase.rawValue),
            .text(StoreEvent.Kind.move.rawValue)
        )
    }
}

// MARK: - An unfinished erasure

extension StoreConnection {
    /// Notes that free pages hold what a purge of everything deleted.
    ///
    /// The entry comes before all others, so that no watcher sees it as a change and it uses up no number.
    func recordErasure() throws {
        try connection.run(
            "INSERT INTO event (id, at, program, process_id, kind, outcome) VALUES (0, ?1, ?2, ?3, ?4, 'unfinished')",
            .integer(now),
            .text(options.program),
            .integer(Self.processID),
            .text(StoreEvent.Kind.erase.rawValue)
        )
    }

    func deleteErasure() throws {
        try connection.run("DELETE FROM event WHERE id = 0 AND kind = ?1", .text(StoreEvent.Kind.erase.rawValue))
    }

    /// Whether free pages still hold what a purge of everything deleted.
    func isErasureUnfinished() throws -> Bool {
        guard !connection.isServer else { return false }
        let kind = try connection.first("SELECT kind FROM event WHERE id = 0") { $0.text(0) }
        return kind == StoreEvent.Kind.erase.rawValue
    }
}

// MARK: - Moves

extension StoreConnection {
    /// What was moved or copied to here and from here, oldest first.
    func moves() throws -> [StoreEvent] { try events(Self.everyMove) }

    /// One of them; nil where it is gone.
    func move(_ id: Int64) throws -> StoreEvent? { try events(Self.moveOfRow, .integer(id)).first }

    /// Writes how far a copy is, in the place of what its entry said before.
    func setOutcome(_ outcome: String, ofMove id: Int64) throws {
        guard let at = try timeOfMove(id) else { return }
        try write(
            .event,
            id: id,
            clear: [
                .integer(at), .text(options.program), .integer(Self.processID),
                .text(StoreEvent.Kind.move.rawValue), .text(outcome), .null, .null, .null,
            ],
            sealed: [Secret("")],
            derived: [owner(nil)]
        )
    }

    /// When it began, in Unix seconds.
    func timeOfMove(_ id: Int64) throws -> Int64? { try connection.integer(Self.startOfMove, .integer(id)) }

    func deleteMove(_ id: Int64) throws { try connection.run(Self.moveDeletion, [.integer(id)]) }

    private static let everyMove = SQL { entries + "WHERE \(isAnyMove($0, "t.")) ORDER BY t.id" }
    private static let moveOfRow = SQL { entries + "WHERE " + isMove("t.", $0) }
    private static let startOfMove = SQL { "SELECT at FROM event WHERE " + isMove("", $0) }
    private static let moveDeletion = SQL { "DELETE FROM event WHERE " + isMove("", $0) }

    private static func isMove(_ prefix: String, _ dialect: Dialect) -> String {
        "\(isAnyMove(dialect, prefix)) AND \(prefix)id = ?1"
    }
}

// MARK: - Reading

extension StoreConnection {
    func lastEvent() throws -> Int64 { try connection.integer("SELECT max(id) FROM event") ?? 0 }

    /// The entries after one, oldest first.
    func events(after id: Int64) throws -> [StoreEvent] { try events(Self.eventsAfter, .integer(id)) }

    /// The newest entries, newest first.
    func newestEvents(_ limit: Int) throws -> [StoreEvent] { try events(Self.newestEvents, .integer(limit)) }

    func newestEvents(ofMark mark: [UInt8], _ limit: Int) throws -> [StoreEvent] {
        try events(Self.eventsOfMark, .blob(mark), .integer(limit))
    }

    func newestEvents(of fingerprint: [UInt8], _ limit: Int) throws -> [StoreEvent] {
        try events(Self.eventsOfToken, .blob(fingerprint), .integer(limit))
    }

    /// Whether an answer was dealt with that had waited in a file.
    func isTakenIn(answerID: String) throws -> Bool {
        try events(Self.eventsOfOutcome, .text(answerID)).contains { $0.kind == .takeIn }
    }

    /// The entries on a server of transactions from one to another, in their order.
    func events(from first: Int64, to end: Int64, limit: Int64) throws -> [StoreEvent] {
        try events(Self.eventsBetween, .text("\(first)"), .text("\(end)"), .integer(limit))
    }

    /// The entries on a server that are seen now, and were not where `snapshot` is all that was; by their transactions.
    func events(since snapshot: String, limit: Int64) throws -> [StoreEvent] {
        try events(Self.eventsSince, .text(snapshot), .integer(limit))
    }

    /// What was restored into a new cluster may have numbers yet to come, and is no news.
    private static let eventsSince = SQL(
        entries + """
            WHERE t.tx >= pg_snapshot_xmin(CAST(CAST(?1 AS text) AS pg_snapshot))
                AND t.tx < pg_snapshot_xmax(pg_current_snapshot())
                AND NOT pg_visible_in_snapshot(t.tx, CAST(CAST(?1 AS text) AS pg_snapshot))
            ORDER BY t.tx, t.id LIMIT ?2
            """
    )

    private static let eventsBetween = SQL(
        entries + """
            WHERE t.tx >= CAST(CAST(?1 AS text) AS xid8) AND t.tx < CAST(CAST(?2 AS text) AS xid8)
            ORDER BY t.tx, t.id LIMIT ?3
            """
    )

    private static let eventsAfter = SQL(entries + "WHERE t.id > ?1 ORDER BY t.id")
    private static let newestEvents = SQL(entries + "ORDER BY t.id DESC LIMIT ?1")
    private static let eventsOfMark = SQL(entries + "WHERE t.account_mark = ?1 ORDER BY t.id DESC LIMIT ?2")
    private static let eventsOfToken = SQL(entries + "WHERE t.fingerprint = ?1 ORDER BY t.id DESC LIMIT ?2")
    private static let eventsOfOutcome = SQL(entries + "WHERE t.outcome = ?1")
    private static var entries: String {
        SealedTable.event.selection(with: "a.authority, a.home_account_id")
            + "LEFT JOIN account a ON a.id = t.account_id "
    }

    /// Reads entries at one moment with the key of their marks: the first sign-in makes it, and a purge takes it along.
    private func events(_ sql: SQL, _ values: Value...) throws -> [StoreEvent] {
        try connection.read {
            let key = try currentMarkKey()
            return try connection.all(sql, values) { row in try intactEvent(row, key) }.compactMap(\.self)
        }
    }

    /// nil for a row that was altered.
    private func intactEvent(_ row: Row, _ key: MarkKey?) throws -> StoreEvent? {
        guard try isIntact(row, of: .event) else { return nil }
        let (table, end) = (SealedTable.event, SealedTable.event.end)
        let mark = row.optionalBlob(table["account_mark"])
        let account = row.optionalText(end + 1).map { Account.ID(issuer: row.text(end), homeAccountID: $0) }
        // The row says which account has the mark now; only one of the mark is believed.
        let isOfMark = account.map { key?.mark(of: $0) == mark } ?? false
        return StoreEvent(
            id: row.integer(0),
            at: row.date(table["at"]),
            program: row.text(table["program"]),
            processID: row.integer(table["process_id"]),
            kind: StoreEvent.Kind(rawValue: row.text(table["kind"])),
            outcome: row.text(table["outcome"]),
            account: isOfMark ? account : nil,
            accountMark: mark,
            clientID: row.optionalText(table["client_id"])
        )
    }
}

// MARK: - Maintenance

extension StoreConnection {
    /// Entries of the record of use from before there were marks get those of their accounts.
    func markEvents() throws {
        let events = try connection.all(
            """
            SELECT e.id, a.authority, a.home_account_id FROM event e JOIN account a ON a.id = e.account_id
            WHERE e.account_mark IS NULL
            """
        ) { ($0.integer(0), Account.ID(issuer: $0.text(1), homeAccountID: $0.text(2))) }
        for (id, account) in events {
            try connection.run(
                "UPDATE event SET account_mark = ?2 WHERE id = ?1",
                .integer(id),
                .blob(try newMark(of: account))
            )
        }
    }

    /// The outcome of the last entry about a rekey.
    func lastRekeyOutcome() throws -> String? {
        try connection.first("SELECT outcome FROM event WHERE kind = 'rekey' ORDER BY id DESC LIMIT 1") { $0.text(0) }
    }

    /// What the last change of the key says of itself, which the sealing of what was under the old one follows.
    func lastKeyChange() throws -> String? {
        let question: StaticString = """
            SELECT outcome FROM event WHERE kind = 'rekey' AND outcome LIKE 'key source %' ORDER BY id DESC LIMIT 1
            """
        return try connection.first(question) { $0.text(0) }
    }

    /// Whether the key has come to another place while a refresh that is under way may have begun before.
    func hasJustMovedKey() throws -> Bool {
        let question: StaticString = """
            SELECT count(*) FROM event WHERE kind = 'rekey' AND at >= ?1 AND outcome LIKE 'key source %'
            """
        return try connection.integer(question, .integer(startOfRefreshes)) ?? 0 > 0
    }

    func deleteEventsButTheLast() throws {
        try connection.run("DELETE FROM event WHERE id < (SELECT max(id) FROM event)")
    }

    private static let rowsOfToken = SQL(SealedTable.event.selection + "WHERE t.fingerprint = ?1")

    /// The record of use goes on naming the same token.
    func renameToken(_ old: [UInt8], _ new: [UInt8]) throws {
        let table = SealedTable.event
        var events: [(id: Int64, clear: [Value], account: Value)] = []
        try connection.forEach(Self.rowsOfToken, .blob(old)) { row in
            guard try isIntact(row, of: table) else { return }
            let clear = table.clear.map { $0 == "fingerprint" ? .blob(new) : row.value(table[$0]) }
            events.append((row.integer(0), clear, row.value(table["account_id"])))
        }
        for event in events {
            try write(table, id: event.id, clear: event.clear, sealed: [Secret("")], derived: [event.account])
        }
    }

    private static let eventsOfAccounts = SQL(
        SealedTable.event.selection(with: "a.authority, a.home_account_id") + "JOIN account a ON a.id = t.account_id"
    )

    /// Entries of the record of use whose row of an account is not of the account that they are about.
    func eventsOfOthers() throws -> [Int64] {
        let mark = SealedTable.event["account_mark"]
        // Those of before there were marks get them when they are sealed anew.
        let hasUnmarked = try currentKeys().hasUnbound
        // Those under a key that was altered name no account any more.
        let repairs = try events(Self.eventsOfOutcome, .text(StoreEvent.forgottenMarks)).filter { $0.kind == .repair }
        let last = repairs.map(\.id).max() ?? .min
        return try connection.all(Self.eventsOfAccounts) { row -> Int64? in
            guard row.integer(0) > last else { return nil }
            let end = SealedTable.event.end
            let account = Account.ID(issuer: row.text(end), homeAccountID: row.text(end + 1))
            let isRight = try row.isNull(mark) ? hasUnmarked : self.mark(of: account) == row.blob(mark)
            return isRight ? nil : row.integer(0)
        }.compactMap(\.self)
    }

    func removeAccount(ofEvent row: Int64) throws {
        try connection.run("UPDATE event SET account_id = NULL WHERE id = ?1", .integer(row))
    }
}
