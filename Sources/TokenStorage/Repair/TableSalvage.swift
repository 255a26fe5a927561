import OAuth
import SQLite
import Sealing

/// Copies the rows of a damaged database that can be read.
struct TableSalvage {
    private let damaged: Connection
    private let fresh: Connection
    private let progress: ((Progress) -> Void)?
    private(set) var salvaged: [(table: String, rows: Int)] = []
    private(set) var lost: [(table: String, rows: Int?)] = []

    /// In the order of their references: a row comes after the one it belongs to.
    private static let tables = [
        "store", "data_key", "mark_key", "account", "tenant_profile", "account_state", "authority_map", "sign_out",
        "app_metadata", "id_token", "claim_index", "refresh_token", "access_token", "event", "foreign_entry",
        "refresh_attempt", "throttle",
        "issuer_document",
    ]

    init(from damaged: Connection, to fresh: Connection, progress: ((Progress) -> Void)?) {
        self.damaged = damaged
        self.fresh = fresh
        self.progress = progress
    }

    /// Copies everything; `unlock` is called once the keys are there.
    mutating func run(_ unlock: () throws -> StoreSession) throws {
        var session: StoreSession?
        try fresh.write {
            for table in Self.tables {
                try copy(table)
                if table == "data_key" {
                    try requireKeys()
                    session = try unlock()
                }
            }
            guard let session else { return }
            try dropUnreadable(session)
            // What is computed from other columns is made anew: an index that lost rows would answer wrongly.
            try fresh.run("DELETE FROM claim_index")
            try session.rehashEverything()
        }
    }

    private func requireKeys() throws {
        let keys = try fresh.integer("SELECT count(*) FROM data_key WHERE is_current = 1") ?? 0
        let headers = try fresh.integer("SELECT count(*) FROM store") ?? 0
        guard keys == 1, headers == 1 else {
            throw TokenStoreError.damaged(
                "the part of the file that holds its data keys is lost, and nothing opens without them; restore a copy, "
                    + "or start anew with 'tokenstore purge --all'"
            )
        }
    }

    private mutating func copy(_ table: String) throws {
        let columns = try fresh.prepare("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid").names()
        let insert = try fresh.prepare(
            "INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) VALUES ("
                + columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ") + ")"
        )
        var rows = 0
        let isWhole = TableReader(damaged, table: table, columns: columns).read { values in
            // A row that breaks a rule of the schema is damaged; the others are not its business.
            guard (try? insert.run(values)) != nil, fresh.changes > 0 else { return }
            rows += 1
            if rows.isMultiple(of: 1024) { progress?(Progress(done: rows, total: nil, unit: "rows of \(table)")) }
        }
        salvaged.append((table, rows))
        if !isWhole { lost.append((table, nil)) }
    }

    /// Deletes what does not open, and what belongs to a row that is gone.
    private mutating func dropUnreadable(_ session: StoreSession) throws {
        for table in SealedTable.all {
            var unreadable: [Int64] = []
            var bare: [Int64] = []
            try fresh.prepare(table.selection(after: "?1")).forEach([.integer(Int64.min)]) { row in
                // A row without its proof is nothing; without the fields that are not known here it still is one.
                if try !session.opens(row, of: table, 0) {
                    unreadable.append(row.integer(0))
                } else if try table.sealed.count > 1 && !session.opens(row, of: table, 1) {
                    bare.append(row.integer(0))
                }
                return true
            }
            for row in bare {
                try fresh.prepare("UPDATE \(table.name) SET \(table.sealed[1]) = NULL WHERE id = ?1").run([.integer(row)])
            }
            for row in unreadable {
                try fresh.prepare("DELETE FROM \(table.name) WHERE id = ?1").run([.integer(row)])
            }
            if !unreadable.isEmpty { lost.append((table.name, unreadable.count)) }
            if !bare.isEmpty { lost.append(("\(table.name).\(table.sealed[1])", bare.count)) }
        }
    }
}

extension Statement {
    fileprivate func names() throws -> [String] {
        var names: [String] = []
        try forEach([]) { row in
            names.append(row.text(0))
            return true
        }
        return names
    }
}

extension StoreSession {
    /// Whether a sealed column of a row holds what belongs there.
    fileprivate func opens(_ row: Row, of table: SealedTable, _ index: Int) throws -> Bool {
        let opened: Secret?? = try intact { try openIfPresent(row, of: table, index) }
        return opened != nil
    }
}
