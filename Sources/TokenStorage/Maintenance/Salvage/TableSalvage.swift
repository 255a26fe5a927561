import Database
import OAuth
import SQL
import Sealing

/// Copies the readable rows of a damaged database, and migrates them.
struct TableSalvage {
    private let damaged: Connection
    private let version: Int
    private let fresh: Connection
    private let progress: TokenStore.ProgressHandler?
    private(set) var lost: [RepairReport.LostRows] = []

    init(from damaged: DamagedStore, to fresh: Connection, progress: TokenStore.ProgressHandler?) {
        self.damaged = damaged.connection
        version = damaged.version
        self.fresh = fresh
        self.progress = progress
    }

    /// Copies everything into tables of its own version, then takes the steps to the current one.
    ///
    /// `unlock` is called once the keys are there.
    mutating func run(_ unlock: () throws -> StoreConnection) throws -> StoreConnection {
        let schema = Schema.current
        try schema.apply(schema.migrations.prefix(version), to: fresh)
        return try fresh.write {
            for table in ["store", "data_key"] { _ = try copy(table) }
            try requireKeys()
            try correctHeader()
            let session = try unlock()
            try dropLostKeys(but: session.keys().ids)
            try session.correctKeyNames()
            for table in try fresh.tables() where !["store", "data_key"].contains(table) {
                let refused = try copy(table)
                try takeLater(refused, of: table, session)
            }
            try schema.apply(schema.migrations.dropFirst(version), to: fresh)
            session.header = try StoreHeader(fresh, at: session.path)
            try dropUnreadable(session)
            // What is computed from other columns is made anew: an index that lost rows would answer wrongly.
            try session.deleteClaimIndex()
            try session.rehashEverything()
            return session
        }
    }

    /// How many refresh tokens are known to be lost.
    var lostRefreshTokens: Int {
        lost.filter { $0.table == SealedTable.refreshToken.name }.reduce(0) { $0 + ($1.rows ?? 0) }
    }

    private mutating func note(_ rows: Int?, lostOf table: String) {
        lost.append(RepairReport.LostRows(table: table, rows: rows))
    }

    /// How many rows of each table were saved.
    func saved() throws -> [RepairReport.SavedRows] {
        try fresh.tables().map { table in
            RepairReport.SavedRows(table: table, rows: try fresh.rowCount(of: table))
        }
    }

    /// Makes the header name the version of the tables.
    private func correctHeader() throws {
        let floors = Schema(migrations: Array(Schema.current.migrations.prefix(version))).floors
        try fresh.correctHeader(version: version, floors: floors)
    }

    private func requireKeys() throws {
        try fresh.correctCurrentDataKey()
        let keys = try fresh.currentDataKeyCount()
        let headers = try fresh.headerCount()
        guard keys == 1, headers == 1 else {
            throw TokenStoreError.damaged(
                "the part of the file that holds its data keys is lost, and nothing opens without them",
                .startAnew
            )
        }
    }

    /// Deletes the data keys that do not open; what was sealed under them does not either.
    private mutating func dropLostKeys(but kept: Set<UInt32>) throws {
        let count = try fresh.dataKeyCount()
        try fresh.deleteDataKeys(but: kept)
        let lostKeys = try count - fresh.dataKeyCount()
        if lostKeys > 0 { note(Int(lostKeys), lostOf: "data_key") }
    }

    /// Puts rows in the place of older ones of the same identity, unless they do not open.
    ///
    /// Once an index has lost a row, a sign-in makes another, whose id is greater. In a store of an older version the
    /// first one stays.
    private func takeLater(_ ids: [Int64], of table: String, _ session: StoreConnection) throws {
        guard !ids.isEmpty, version == Schema.current.version,
            let sealed = SealedTable.all.first(where: { $0.name == table })
        else { return }
        let columns = try fresh.columns(of: table)
        let replace = try fresh.prepare(Self.insertion("REPLACE", table, columns))
        let isThere = try fresh.prepare("SELECT 1 FROM \(table) WHERE id = ?1")
        for id in ids.sorted() where try isThere.first([.integer(id)], { _ in true }) == nil {
            guard let values = try intactRow(id, of: sealed, columns, session) else { continue }
            if sealed === SealedTable.account, try leavesOutSessions(id) { continue }
            do {
                try replace.run(values)
            } catch let error as SQLiteError where error.code.primary == .constraint {
                // It was refused for what it holds.
            }
        }
    }

    /// Whether an account's older row has sessions of clients of which the later one has none: what hangs on a row goes
    /// with it.
    private func leavesOutSessions(_ later: Int64) throws -> Bool {
        let statement = try damaged.prepare(
            """
            SELECT 1 FROM account n NOT INDEXED
            JOIN account o NOT INDEXED ON o.account_key = n.account_key AND o.authority = n.authority AND o.id < n.id
            JOIN refresh_token t NOT INDEXED ON t.account_id = o.id
            WHERE n.id = ?1
                AND t.client_fold NOT IN (SELECT client_fold FROM refresh_token NOT INDEXED WHERE account_id = ?1)
            """
        )
        do {
            return try statement.first([.integer(later)]) { _ in true } ?? false
        } catch is SQLiteError {
            // The damage hides whether it has sessions, so that the row is kept.
            return true
        }
    }

    /// The values of a row; nil where it cannot be read or does not open.
    private func intactRow(
        _ id: Int64,
        of table: SealedTable,
        _ columns: [String],
        _ session: StoreConnection
    ) throws -> [Value]? {
        do {
            let row = try damaged.prepare(table.selection + "WHERE t.id = ?1")
            guard try row.first([.integer(id)], { try session.opens($0, of: table, 0) }) ?? false else { return nil }
            let all = try damaged.prepare("SELECT \(columns.joined(separator: ", ")) FROM \(table.name) WHERE id = ?1")
            return try all.first([.integer(id)]) { row in (0..<row.columnCount).map { row.value($0) } }
        } catch is SQLiteError {
            return nil
        }
    }

    private static func insertion(_ conflict: String, _ table: String, _ columns: [String]) -> String {
        "INSERT OR \(conflict) INTO \(table) (\(columns.joined(separator: ", "))) VALUES ("
            + columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ") + ")"
    }

    /// - Returns: the ids of the rows that were refused because another one is in their place.
    private mutating func copy(_ table: String) throws -> [Int64] {
        let found = try damaged.columns(of: table)
        let columns = try fresh.columns(of: table).filter(found.contains)
        guard !columns.isEmpty else {
            note(nil, lostOf: table)
            return []
        }
        let insert = try fresh.prepare(Self.insertion("IGNORE", table, columns))
        let hasID = columns[0] == "id"
        var (rows, refused, inTheWay) = (0, 0, [Int64]())
        var interruption: (any Error)?
        let isWhole = TableReader(damaged, table: table, columns: columns).read { values in
            guard interruption == nil else { return }
            do {
                // No program gave such an id.
                if hasID, case .integer(..<0)? = values.first {
                    refused += 1
                    return
                }
                try insert.run(values)
                guard fresh.changes > 0 else {
                    refused += 1
                    if hasID, case .integer(let id)? = values.first { inTheWay.append(id) }
                    return
                }
                rows += 1
                guard rows.isMultiple(of: 1024) else { return }
                try progress?(TokenStore.Progress(done: rows, total: nil, unit: "rows of \(table)"))
            } catch let error as SQLiteError where [.constraint, Self.mismatch].contains(error.code.primary) {
                // A row that breaks a rule of the schema is damaged; the others are not its business.
                refused += 1
            } catch {
                // A full disk is not damage, and neither is a person who ends it.
                interruption = error
            }
        }
        if let interruption { throw interruption }
        // Around damage some rows are read twice.
        if !isWhole || refused > 0 { note(isWhole ? refused : nil, lostOf: table) }
        return inTheWay
    }

    /// A value of a type that the column does not have.
    private static let mismatch = SQLiteError.Code(rawValue: 20)

    /// Deletes what does not open, and what belongs to a row that is gone.
    private mutating func dropUnreadable(_ session: StoreConnection) throws {
        for table in SealedTable.all {
            var unreadable: [Int64] = []
            var bare: [(row: Int64, proof: Secret)] = []
            try fresh.prepare(table.selection(after: "?1")).forEachRow([.integer(Int64.min)]) { row in
                // A row without its proof is nothing; without the fields that are not known here it still is one. Not so
                // a refresh token, as they may say that it is no session.
                let isWhole = try table.sealed.count == 1 || session.opens(row, of: table, 1)
                if try !session.opens(row, of: table, 0) || !isWhole && table === SealedTable.refreshToken {
                    unreadable.append(row.integer(0))
                } else if !isWhole {
                    bare.append((row.integer(0), try session.open(row, of: table)))
                }
            }
            for (row, proof) in bare { try session.write(proof, ofBare: row, in: table) }
            for row in unreadable {
                try fresh.prepare("DELETE FROM \(table.name) WHERE id = ?1").run([.integer(row)])
            }
            if !unreadable.isEmpty { note(unreadable.count, lostOf: table.name) }
            if !bare.isEmpty { note(bare.count, lostOf: "\(table.name).\(table.sealed[1])") }
        }
    }
}

extension Connection {
    /// Every table, a row's table after the ones that the row refers to.
    fileprivate func tables() throws -> [String] {
        var left = try all(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        ) { $0.text(0) }
        var ordered: [String] = []
        while !left.isEmpty {
            let next = try left.firstIndex { table in
                try names("SELECT \"table\" FROM pragma_foreign_key_list('\(table)')")
                    .allSatisfy { $0 == table || !left.contains($0) }
            }
            // Tables that refer to each other in a circle have no order.
            ordered.append(left.remove(at: next ?? left.startIndex))
        }
        return ordered
    }

    fileprivate func deleteDataKeys(but kept: Set<UInt32>) throws {
        try execute("DELETE FROM data_key WHERE id NOT IN (\(kept.map(String.init).joined(separator: ", ")))")
    }

    /// The columns of a table; none if it cannot be read.
    fileprivate func columns(of table: String) throws -> [String] {
        do {
            return try names("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
        } catch let error as SQLiteError where [.corrupt, .notADatabase, .generic].contains(error.code.primary) {
            return []
        }
    }

    private func names(_ sql: String) throws -> [String] { try prepare(sql).all([]) { $0.text(0) } }
}

extension StoreConnection {
    /// Whether a sealed column of a row holds what belongs there.
    fileprivate func opens(_ row: Row, of table: SealedTable, _ index: Int) throws -> Bool {
        let opened: Secret?? = try intact { try openIfPresent(row, of: table, index) }
        return opened != nil
    }

    /// Takes the second sealed column of a row away, and seals its proof anew, which says that there is one.
    fileprivate func write(_ proof: Secret, ofBare row: Int64, in table: SealedTable) throws {
        try connection.prepare("UPDATE \(table.name) SET \(table.sealed[1]) = NULL WHERE id = ?1").run([.integer(row)])
        let sealed = try connection.prepare(table.selection + "WHERE t.id = ?1").first([.integer(row)]) { row in
            try seal(proof, of: row, in: table, 0, under: currentSealer())
        }
        guard let sealed else { return }
        try connection.prepare("UPDATE \(table.name) SET \(table.sealed[0]) = ?2 WHERE id = ?1").run([
            .integer(row), .blob(sealed),
        ])
    }
}
