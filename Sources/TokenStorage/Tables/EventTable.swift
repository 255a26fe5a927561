import OAuth
import SQL
import SQLite
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
        derived: ["account_id"]
    )
}

extension StoreConnection {
    /// Adds an entry to the record of use, and forgets the oldest ones.
    func record(
        _ kind: StoreEvent.Kind,
        outcome: String = "done",
        account: Account.ID? = nil,
        client: String? = nil,
        refreshToken: Secret? = nil
    ) throws {
        try write(
            .event,
            id: nextID("SELECT max(id) FROM event"),
            clear: [
                .integer(now), .text(options.program), .integer(Self.processID), .text(kind.rawValue), .text(outcome),
                .optional(try account.map { try newMark(of: $0) }), .optional(client),
                .optional(try refreshToken.map { try fingerprint(of: $0) }),
            ],
            sealed: [Secret("")],
            derived: [.optional(try account.flatMap { try accountRow($0) })]
        )
        try connection.run("DELETE FROM event WHERE id <= (SELECT max(id) FROM event) - ?1", .integer(StoreEvent.limit))
    }
}

// MARK: - Reading

extension StoreConnection {
    func lastEvent() throws -> Int64 { try connection.integer("SELECT max(id) FROM event") ?? 0 }

    /// The entries after one, oldest first.
    func events(after id: Int64) throws -> [StoreEvent] { try events(Self.eventsAfter, .integer(id)) }

    func events(ofMark mark: [UInt8]) throws -> [StoreEvent] { try events(Self.eventsOfMark, .blob(mark)) }

    func events(of fingerprint: [UInt8]) throws -> [StoreEvent] {
        try events(Self.eventsOfToken, .blob(fingerprint))
    }

    /// Whether an answer was dealt with that had waited in a file.
    func isTakenIn(_ mark: String) throws -> Bool {
        try events(Self.eventsOfOutcome, .text(mark)).contains { $0.kind == .takeIn }
    }

    private static let eventsAfter = SQL(entries + "WHERE t.id > ?1 ORDER BY t.id")
    private static let eventsOfMark = SQL(entries + "WHERE t.account_mark = ?1 ORDER BY t.id")
    private static let eventsOfToken = SQL(entries + "WHERE t.fingerprint = ?1 ORDER BY t.id")
    private static let eventsOfOutcome = SQL(entries + "WHERE t.outcome = ?1")
    private static var entries: String {
        SealedTable.event.selection(with: "a.authority, a.home_account_id")
            + "LEFT JOIN account a ON a.id = t.account_id "
    }

    private func events(_ sql: SQL, _ value: Value) throws -> [StoreEvent] {
        try connection.all(sql, value) { row in try isIntact(row, of: .event) ? event(row) : nil }.compactMap(\.self)
    }

    private func event(_ row: Row) throws -> StoreEvent {
        let (table, end) = (SealedTable.event, SealedTable.event.end)
        let mark = row.optionalBlob(table["account_mark"])
        let account = row.optionalText(end + 1).map { Account.ID(issuer: row.text(end), homeAccountID: $0) }
        // The row says which account has the mark now; only one of the mark is believed.
        let isOfMark = try account.map { try self.mark(of: $0) == mark } ?? false
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
        return try connection.all(Self.eventsOfAccounts) { row -> Int64? in
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
