import OAuth
import SQLite
import Sealing

extension StoreSession {
    /// How many rows one transaction of a rekey takes: few enough that writers wait for milliseconds.
    private static let batch = 256

    /// Seals every value that is not under the current data key, in small transactions.
    ///
    /// - Returns: how many values were sealed anew.
    func resealEverything(_ progress: ((Progress) -> Void)?) throws -> Int {
        var resealed = 0
        for table in SealedTable.all {
            var last: Int64 = 0
            while true {
                let (count, end) = try write { try resealBatch(of: table, after: last) }
                resealed += count
                guard let end else { break }
                last = end
                progress?(Progress(done: resealed, total: nil, unit: "values"))
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
        try connection.prepare(table.selection).forEach([.integer(last)]) { row in
            end = row.integer(0)
            seen += 1
            if let values = try resealed(row, of: table, under: current) { stale.append((row.integer(0), values)) }
            return seen < Self.batch
        }
        let assignments = table.columns.enumerated().map { "\($1) = ?\($0 + 2)" }.joined(separator: ", ")
        let update = try connection.prepare("UPDATE \(table.name) SET \(assignments) WHERE id = ?1")
        for (row, values) in stale {
            try update.run([.integer(row)] + values)
            try rehash(row, of: table)
        }
        let count = stale.reduce(0) { $0 + $1.values.count { $0 != .null } }
        return (count, seen < Self.batch ? nil : end)
    }

    /// The row's values under `sealer`; nil if they are already.
    private func resealed(_ row: Row, of table: SealedTable, under sealer: Sealer) throws -> [Value]? {
        let columns = table.columns.indices.map { CInt($0 + 2) }
        let isStale = columns.contains { column in
            !row.isNull(column) && Sealer.keyID(of: row.bytes(column)) != sealer.keyID
        }
        guard isStale else { return nil }
        return try zip(columns, table.columns).map { column, name in
            guard !row.isNull(column) else { return .null }
            let place = SealedPlace(table: table.name, column: name, owner: row.integer(1), row: row.integer(0))
            return .blob(try sealer.seal(open(row, column, as: place), as: place))
        }
    }

    /// Computes the keyed hashes of a row anew, which hang on the data key as well.
    private func rehash(_ row: Int64, of table: SealedTable) throws {
        switch table.name {
        case "id_token": try rehashClaims(row)
        case "refresh_token": try rehashFingerprint(row)
        case "foreign_entry": try rehashForeignEntry(row)
        default: break
        }
    }

    func rehashClaims(_ row: Int64) throws {
        let token = try connection.first("SELECT account_id, secret FROM id_token WHERE id = ?1", .integer(row)) {
            try open($0, 1, as: .idToken("secret", owner: $0.integer(0), row: row))
        }
        // A token that cannot be decoded has no claims, and no index.
        try reindexClaims(token.flatMap { try? IDToken(decoding: $0) }?.claims, idToken: row)
    }

    private func rehashFingerprint(_ row: Int64) throws {
        let known = try connection.first(
            "SELECT account_id, secret, fingerprint FROM refresh_token WHERE id = ?1",
            .integer(row)
        ) { columns in
            let place = SealedPlace.refreshToken("secret", owner: columns.integer(0), row: row)
            return (try currentSealer().fingerprint(open(columns, 1, as: place)), columns.blob(2))
        }
        guard let (new, old) = known else { return }
        try connection.run("UPDATE refresh_token SET fingerprint = ?2 WHERE id = ?1", .integer(row), .blob(new))
        // The record of use goes on naming the same token.
        try connection.run("UPDATE event SET fingerprint = ?2 WHERE fingerprint = ?1", .blob(old), .blob(new))
    }

    private func rehashForeignEntry(_ row: Int64) throws {
        let entry = try connection.first(
            "SELECT id, rejection, entry FROM foreign_entry WHERE id = ?1",
            .integer(row)
        ) { try foreignEntry($0) }
        guard let entry else { return }
        let identity = entry.identity(try currentSealer())
        // What stands under the new identity already was imported meanwhile, and is the newer one of the two.
        let newer = try connection.integer("SELECT id FROM foreign_entry WHERE identity = ?1", .blob(identity))
        if let newer, newer != row {
            try deleteForeignEntry(row)
        } else {
            try connection.run("UPDATE foreign_entry SET identity = ?2 WHERE id = ?1", .integer(row), .blob(identity))
            try updateAccountHash(of: entry, row)
        }
    }
}
