import OAuth
import SQL
import SQLite
import Sealing

extension StoreConnection {
    /// How many rows one transaction of a rekey takes: few enough that writers wait for milliseconds.
    private static let batch = 256

    /// Seals every value that is not under the current data key, in small transactions.
    ///
    /// - Returns: how many values were sealed anew.
    func resealEverything(_ progress: ((TokenStore.Progress) -> Void)?) throws -> Int {
        var resealed = 0
        for table in SealedTable.all {
            var last: Int64 = 0
            while true {
                let (count, end) = try write { try resealBatch(of: table, after: last) }
                resealed += count
                guard let end else { break }
                last = end
                progress?(TokenStore.Progress(done: resealed, total: nil, unit: "values"))
            }
        }
        return resealed
    }

    /// - Returns: how many values were sealed anew, and the last row looked at; nil at the end of the table.
    private func resealBatch(of table: SealedTable, after last: Int64) throws -> (count: Int, end: Int64?) {
        let current = try currentSealer()
        var stale: [(row: Int64, values: [Value])] = []
        var end: Int64?
        var seen = 0
        try connection.prepare(table.selection(after: "?1")).forEach([.integer(last)]) { row in
            end = row.integer(0)
            seen += 1
            if let values = try resealed(row, of: table, under: current) { stale.append((row.integer(0), values)) }
            return seen < Self.batch
        }
        for (row, values) in stale {
            try connection.run(table.reseal, [.integer(row)] + values)
            try rehash(row, of: table)
        }
        let count = stale.reduce(0) { $0 + $1.values.count { $0 != .null } }
        return (count, seen < Self.batch ? nil : end)
    }

    /// The row's values under `sealer`, bound to its clear columns; nil if they are already.
    private func resealed(_ row: Row, of table: SealedTable, under sealer: Sealer) throws -> [Value]? {
        let isStale = table.sealed.indices.contains { index in
            let column = table.firstSealed + CInt(index)
            // A proof that is missing was not asked for by the format that the values are sealed in.
            return row.isNull(column) ? index == 0 : Sealer.keyID(of: row.bytes(column)) != sealer.keyID
        }
        guard isStale else { return nil }
        return try table.sealed.indices.map { index in
            let value = try openIfPresent(row, of: table, index)
            guard let secret = value ?? (index == 0 ? table.absentProof : nil) else { return .null }
            return .blob(try seal(secret, of: row, in: table, index, under: sealer))
        }
    }

    /// Computes the keyed hashes of a row anew, which hang on the data key as well.
    private func rehash(_ row: Int64, of table: SealedTable) throws {
        switch table.name {
        case "account_tag": try rehashTag(row)
        case "id_token": try rehashClaims(row)
        case "refresh_token": try rehashFingerprint(row)
        case "foreign_entry": try rehashUnrecognizedEntry(row)
        default: break
        }
    }

    /// Computes every keyed hash anew.
    func rehashEverything() throws {
        for table in [SealedTable.accountTag, .idToken, .refreshToken, .foreignEntry] {
            var rows: [Int64] = []
            try connection.prepare("SELECT id FROM \(table.name)").forEach([]) { row in
                rows.append(row.integer(0))
                return true
            }
            for row in rows { try rehash(row, of: table) }
        }
        for row in try eventsOfOthers() {
            try removeAccount(ofEvent: row)
        }
    }

    /// Sets clear columns of all rows of a table and seals these anew, as the program itself would: for benchmarks and
    /// tests, since a row that is changed in any other way cannot be opened.
    package func update(_ name: String, set assignments: String, beforeCommit: () throws -> Void = {}) throws {
        guard let table = SealedTable.all.first(where: { $0.name == name }) else { return }
        try write {
            var opened: [Int64: [Secret?]] = [:]
            try connection.prepare(table.selection(after: "?1")).forEach([.integer(Int64.min)]) { row in
                opened[row.integer(0)] = try table.sealed.indices.map { try openIfPresent(row, of: table, $0) }
                return true
            }
            try connection.execute("UPDATE \(name) SET \(assignments)")
            var values: [[Value]] = []
            try connection.prepare(table.selection(after: "?1")).forEach([.integer(Int64.min)]) { row in
                let secrets = opened[row.integer(0)] ?? []
                let boxes = try secrets.enumerated().map { index, secret -> Value in
                    guard let secret else { return .null }
                    return .blob(try seal(secret, of: row, in: table, index, under: currentSealer()))
                }
                values.append([.integer(row.integer(0))] + boxes)
                return true
            }
            for row in values { try connection.run(table.reseal, row) }
            try beforeCommit()
        }
    }
}
