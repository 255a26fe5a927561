import Database
import OAuth
import SQL
import Sealing

/// Where a rekey stands in a table.
private struct RowPlace {
    let owner: Int64
    let row: Int64

    func values(for table: SealedTable, on dialect: Dialect) -> [Value] {
        table.isKeyedByOwner(on: dialect) ? [.integer(owner), .integer(row)] : [.integer(row)]
    }
}

/// A row that a rekey writes or deletes.
private struct StaleRow {
    let place: RowPlace
    let values: [Value]

    /// What was its proof.
    let proof: Value
}

/// What a rekey did in one transaction.
private struct ResealedBatch {
    /// How many rows were looked at.
    var seen = 0

    /// How many values were sealed anew.
    var values = 0
    var altered = AlteredRows()

    /// The last row; nil at the end of the table.
    var end: RowPlace?

    mutating func count(atLeast other: ResealedBatch) {
        values = max(values, other.values)
        altered.givenUp = max(altered.givenUp, other.altered.givenUp)
    }
}

extension SealedTable {
    /// The next rows of a table, in the order of its key.
    ///
    /// On a server they are locked, so that the rekey does not overwrite what another process writes meanwhile. Where
    /// the tables are spread over several machines, a query cannot lock the rows that it finds.
    fileprivate func batch(of count: Int, on dialect: Dialect, isDistributed: Bool) -> String {
        guard dialect == .postgreSQL else { return selection(after: "?1") }
        let isKeyed = isKeyedByOwner(on: dialect)
        let place = isKeyed ? ("(t.account_id, t.id) > (?1, ?2)", "t.account_id, t.id") : ("t.id > ?1", "t.id")
        let lock = isDistributed ? "" : " FOR UPDATE OF t"
        return selection + "WHERE \(place.0) ORDER BY \(place.1) LIMIT \(count)\(lock)"
    }

    /// ``reseal``, if the row's proof still equals the last parameter: each change gives a row another proof.
    fileprivate var resealUnchanged: String {
        reseal.postgreSQL + " AND \(sealed[0]) IS NOT DISTINCT FROM ?\(sealed.count + (ownerOnServers != nil ? 3 : 2))"
    }

    /// Deletes a row; on a server only if its proof still equals the last parameter.
    fileprivate func deletion(on dialect: Dialect) -> String {
        guard dialect == .postgreSQL else { return "DELETE FROM \(name) WHERE id = ?1" }
        let key = isKeyedByOwner(on: dialect) ? "id = ?1 AND account_id = ?2" : "id = ?1"
        return "DELETE FROM \(name) WHERE \(key) AND \(sealed[0]) IS NOT DISTINCT FROM "
            + (isKeyedByOwner(on: dialect) ? "?3" : "?2")
    }
}

extension StoreConnection {
    /// Smaller on a server, which keeps the rows of a batch locked until the end of the transaction.
    private var batch: Int { connection.isServer ? min(256, options.resealBatch) : options.resealBatch }

    /// Seals every value that is not under the current data key, in small transactions.
    ///
    /// - Returns: how many values were sealed anew, and how many rows had been altered and keep no old data key.
    /// - Throws: ``TokenStoreError/Code/damaged``, after all others, for values that do not open and are not given up.
    func resealEverything(_ progress: TokenStore.ProgressHandler?) throws -> (values: Int, altered: Int) {
        var resealed = 0
        var altered = AlteredRows()
        let rows = RowProgress(
            progress,
            total: try progress.flatMap { _ in try write { try rowCount(SealedTable.all) } },
            unit: "rows",
            step: 1
        )
        for table in SealedTable.all {
            // A row that was altered may have any id, and any owner.
            var last = RowPlace(owner: connection.isServer ? .min : 0, row: .min)
            while true {
                var counted = ResealedBatch()
                let batch = try write {
                    var batch = try resealBatch(of: table, after: last)
                    // What was sealed by a commit whose answer was lost counts too.
                    if mayHaveHappened { batch.count(atLeast: counted) }
                    counted = batch
                    return batch
                }
                resealed += batch.values
                altered.add(batch.altered)
                try rows.advance(by: batch.seen)
                guard let end = batch.end else { break }
                last = end
            }
        }
        try rows.end()
        try altered.requireNoneKept(in: self)
        return (resealed, altered.givenUp)
    }

    private func resealBatch(of table: SealedTable, after last: RowPlace) throws -> ResealedBatch {
        let (current, isDistributed) = (try currentSealer(), try isDistributed())
        // The next entry gets the number behind the greatest one, which others may know already.
        let lastEvent = try table === SealedTable.event && !connection.isServer ? lastEvent() : nil
        var (stale, gone): ([StaleRow], [StaleRow]) = ([], [])
        var end: RowPlace?
        var batch = ResealedBatch()
        let size = self.batch
        let rows = try connection.prepare(table.batch(of: size, on: connection.dialect, isDistributed: isDistributed))
        try rows.forEach(last.values(for: table, on: connection.dialect)) { row in
            let place = RowPlace(owner: row.integer(table.ownerOnServers ?? 1), row: row.integer(0))
            end = place
            batch.seen += 1
            let proof = row.value(table.firstSealed)
            if let values = try intact({ try resealed(row, of: table, under: current) }) {
                if let values { stale.append(StaleRow(place: place, values: values, proof: proof)) }
                return batch.seen < size
            }
            batch.altered.add(row, of: table)
            let found = StaleRow(place: place, values: [.null], proof: proof)
            if table.whenAltered == .countsForNothing, place.row != lastEvent {
                gone.append(found)
            } else if table.whenAltered != .isKept, proof != .null {
                stale.append(found)
            }
            return batch.seen < size
        }
        for found in gone { try delete(found, of: table) }
        for found in stale { try reseal(found, of: table, ifUnchanged: isDistributed) }
        batch.values = stale.reduce(0) { $0 + $1.values.count { $0 != .null } }
        if batch.seen == size { batch.end = end }
        return batch
    }

    private func reseal(_ found: StaleRow, of table: SealedTable, ifUnchanged: Bool) throws {
        let (row, owner) = (found.place.row, found.place.owner)
        let values = table.resealing(row, of: owner, with: found.values, on: connection.dialect)
        if ifUnchanged {
            try connection.prepare(table.resealUnchanged).run(values + [found.proof])
        } else {
            try changeRow(by: table.reseal, values)
        }
        try rehash(row, of: owner, in: table)
    }

    private func delete(_ found: StaleRow, of table: SealedTable) throws {
        if table === SealedTable.markKey, found.place.row == 1, case .blob(let sealed) = found.proof {
            return try forgetMarks(under: sealed)
        }
        let dialect = connection.dialect
        let key = table.isKeyedByOwner(on: dialect) ? [found.place.row, found.place.owner] : [found.place.row]
        let values = key.map(Value.integer) + (dialect == .postgreSQL ? [found.proof] : [])
        try connection.prepare(table.deletion(on: dialect)).run(values)
    }

    /// The row's values under `sealer`, bound to its clear columns; nil if they are already.
    private func resealed(_ row: Row, of table: SealedTable, under sealer: Sealer) throws -> [Value]? {
        let isStale = table.sealed.indices.contains { index in
            let column = table.firstSealed + CInt(index)
            // A proof that is missing was not asked for by the format that the values are sealed in.
            return row.isNull(column) ? index == 0 : Sealer.keyID(of: row.bytes(column)) != sealer.keyID
        }
        // A value may name the current key and not be sealed under it.
        let opened = try openAll(row, of: table)
        guard isStale else { return nil }
        return try opened.enumerated().map { index, value in
            guard let secret = value ?? (index == 0 ? table.absentProof : nil) else { return .null }
            return .blob(try seal(secret, of: row, in: table, index, under: sealer))
        }
    }

    /// Computes the keyed hashes of a row anew, which depend on the data key too.
    func rehash(_ row: Int64, of account: Int64, in table: SealedTable) throws {
        if table === SealedTable.accountTag {
            try rehashTag(row, account: account)
        } else if table === SealedTable.idToken {
            try rehashClaims(row, account: account)
        } else if table === SealedTable.refreshToken {
            try rehashFingerprint(row, account: account)
        } else if table === SealedTable.foreignEntry {
            try rehashUnrecognizedEntry(row)
        }
    }

    /// Computes every keyed hash anew.
    func rehashEverything() throws {
        // If two rows have each other's hashes, the right hash of the first would collide with the second row.
        try connection.run("UPDATE account_tag SET name_hash = randomblob(40)")
        try connection.run("UPDATE foreign_entry SET identity = randomblob(40)")
        for table in [SealedTable.accountTag, .idToken, .refreshToken, .foreignEntry] {
            let account = table.isOwned ? "account_id" : "0"
            // Of two entries of one identity the newer one stays.
            let rows = try connection.prepare("SELECT id, \(account) FROM \(table.name) ORDER BY id DESC")
                .all([]) { ($0.integer(0), $0.integer(1)) }
            for (row, account) in rows { try rehash(row, of: account, in: table) }
        }
        for row in try eventsOfOthers() {
            try removeAccount(ofEvent: row)
        }
    }

    /// Sets clear columns of all rows of a table and seals these anew, as the program itself would: for benchmarks and
    /// tests, since a row that is changed in any other way cannot be opened.
    package func update(_ name: String, set assignments: String, beforeCommit: () throws -> Void = {}) throws {
        guard let table = SealedTable.all.first(where: { $0.name == name }) else {
            preconditionFailure("there is no table \(name)")
        }
        try write {
            var opened: [Int64: [Secret?]] = [:]
            let rows = try connection.prepare(table.selection(after: "?1"))
            try rows.forEachRow([.integer(Int64.min)]) { opened[$0.integer(0)] = try openAll($0, of: table) }
            try connection.execute("UPDATE \(name) SET \(assignments)")
            let values = try rows.all([.integer(Int64.min)]) { row in
                let secrets = opened[row.integer(0)] ?? []
                let boxes = try secrets.enumerated().map { index, secret -> Value in
                    guard let secret else { return .null }
                    return .blob(try seal(secret, of: row, in: table, index, under: currentSealer()))
                }
                let owner = row.integer(table.ownerOnServers ?? 1)
                return table.resealing(row.integer(0), of: owner, with: boxes, on: connection.dialect)
            }
            for row in values { try connection.run(table.reseal, row) }
            try beforeCommit()
        }
    }
}
