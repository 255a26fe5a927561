import Database
import OAuth
import SQL
import Sealing

extension StoreConnection {
    /// The sealer for new values.
    ///
    /// In a write transaction, use ``write(_:)``: a value sealed under a key that a rekey has just retired
    /// could never be opened again.
    func currentSealer() throws -> Sealer {
        let keys = try keys()
        guard let sealer = keys.currentSealer else { throw SealingError.unknownDataKey(keys.currentID) }
        return sealer
    }

    func seal(_ secret: Secret, as location: SealedLocation) throws -> [UInt8] {
        try currentSealer().seal(secret, as: location)
    }

    /// Seals a column of a row that was selected with the table's ``SealedTable/selection``.
    func seal(_ secret: Secret, of row: Row, in table: SealedTable, _ index: Int, under sealer: Sealer) throws
        -> [UInt8]
    {
        bind(row, of: table)
        return try sealer.seal(secret, as: table.location(index, of: row), with: clearValues.bytes)
    }

    /// Writes the row `id`, or a new one where that is nil, with its values sealed together with `clear`.
    ///
    /// `clear` and `derived` are in the order of the table's definition; of `sealed` those that are nil are absent.
    /// A new row gets the id `new`, where that is given.
    ///
    /// - Returns: the id of the row.
    /// - Throws: ``TokenStoreError/Code/damaged`` if an index gave the row of another account, client or tenant, or a
    ///   constraint that was planted in the table had it ignored.
    @discardableResult
    func write(
        _ table: SealedTable,
        id known: Int64?,
        new: Int64? = nil,
        account: Int64? = nil,
        clear: [Value],
        sealed: [Secret?],
        derived: [Value] = []
    ) throws -> Int64 {
        let id = try known ?? new ?? nextID(table)
        precondition(clear.count == table.clear.count && sealed.count == table.sealed.count, "all columns are written")
        try table.requireFit(clear)
        // Without the key there is no proof.
        let sealer = try isWithoutKey ? nil : currentSealer()
        let owner = try table.isOwned ? ownerValues(account) : []
        clearValues.removeAll()
        for value in owner { clearValues.append(value) }
        for value in clear { clearValues.append(value) }
        for (column, secret) in zip(table.sealed, sealed).dropFirst() where secret != nil {
            clearValues.append(.text(column))
        }
        var values: [Value] = []
        values.reserveCapacity(2 + clear.count + sealed.count + derived.count)
        values.append(.integer(id))
        if table.hasOwner(on: connection.dialect) {
            values.append(self.owner(account))
        }
        values += clear
        for (index, secret) in sealed.enumerated() {
            let location = SealedLocation(
                table: table.name,
                column: table.sealed[index],
                owner: table.isOwned ? account ?? 0 : 0,
                row: id
            )
            guard let secret, let sealer else {
                values.append(.null)
                continue
            }
            values.append(.blob(try sealer.seal(secret, as: location, with: clearValues.bytes)))
        }
        try changeRow(by: known == nil ? table.insert : table.upsert, values + derived)
        if isWriting, known ?? new == nil {
            witness.newRow = (table, id, table.hasOwner(on: .postgreSQL) ? account ?? 0 : nil)
        }
        return id
    }

    /// Runs a statement that is about one row, and makes sure that a file has taken it.
    ///
    /// A table that was made anew outside the program may ignore a row instead of refusing it.
    func changeRow(by statement: SQL, _ values: [Value]) throws {
        try connection.run(statement, values)
        guard connection.isServer || connection.changes > 0 else {
            throw TokenStoreError.damaged(
                "\(location) took no row: an index names another one, or a table is not as it was made",
                .repair
            )
        }
    }

    /// An index is not sealed, and names a row that is of another account, client or tenant.
    func misplacedRow() -> TokenStoreError {
        .damaged("an index of \(location) names another row than the one it was asked for", .repair)
    }

    /// The account of a row as a statement's value; nil is none.
    func owner(_ account: Int64?) -> Value { account.map(Value.integer) ?? connection.noOwner }

    /// What identifies the account of a row, which its sealed values are bound to.
    private func ownerValues(_ account: Int64?) throws -> [Value] {
        guard let account else { return [.null, .null] }
        if let latestOwner, latestOwner.row == account { return latestOwner.values }
        let values = try boundValues(ofAccount: account)
        latestOwner = (account, values ?? [.null, .null])
        return values ?? [.null, .null]
    }

    /// By what the record of use names a refresh token; a sign-in and a refresh ask for it more than once.
    func fingerprint(of refreshToken: Secret) throws -> [UInt8] {
        if let latestFingerprint, latestFingerprint.refreshToken == refreshToken { return latestFingerprint.bytes }
        let bytes = try currentSealer().fingerprint(refreshToken)
        if connection.isInTransaction { latestFingerprint = (refreshToken, bytes) }
        return bytes
    }

    /// Runs `body` in a write transaction, with the data key that is current in it.
    ///
    /// `ask` may ask a server ahead what `body` will ask, so that it all takes one round trip; with a presumption that
    /// is right nothing is asked.
    func write<Result>(
        presuming presumed: Presumption? = nil,
        askingAhead ask: () throws -> Void = {},
        _ body: () throws -> Result
    ) throws -> Result {
        for _ in 0..<Self.keyAttempts {
            do {
                return try writeWithKeysAtHand(presuming: presumed, askingAhead: ask, body)
            } catch is MissingDataKeys {
                if let place = try newPlace() { throw TokenStoreError.moved(from: location, to: place) }
                // A key source may ask a person, for which no transaction should wait.
                try fetchKeys()
            }
        }
        throw TokenStoreError.restlessKeys(of: location)
    }

    /// The same for a caller who holds what a key source may wait for.
    ///
    /// - Throws: ``MissingDataKeys`` where the key has to be fetched first.
    func writeWithKeysAtHand<Result>(
        presuming presumed: Presumption? = nil,
        askingAhead ask: () throws -> Void = {},
        _ body: () throws -> Result
    ) throws -> Result {
        guard connection.isServer else { return try writeOnFile { try underCurrentKey(body) } }
        presumption = presumed
        defer { presumption = nil }
        return try writeOnServer {
            if presumption == nil {
                try askAheadForKey()
                try ask()
            }
            return try underCurrentKey(body)
        }
    }

    /// Runs `body`, in the transaction that is open, with the data key that is current in it.
    private func underCurrentKey<Result>(_ body: () throws -> Result) throws -> Result {
        forgetLatest()
        defer { forgetLatest() }
        let current = try connection.isServer ? writableDataKeyID() : connection.currentDataKeyID()
        if let keyRing {
            guard let current else { throw MissingDataKeys() }
            if current != Int64(keyRing.currentID) { try reloadKeysAtHand() }
        }
        let result = try body()
        guard !(try isReplaced()) else {
            throw TokenStoreError.busy(
                "another file took the place of \(location) while it was written, and nothing was changed",
                .retry
            )
        }
        return result
    }

    /// What was kept for one transaction: another process may write between two.
    func forgetLatest() {
        (latestOwner, latestMark, latestFingerprint, bareAccount) = (nil, nil, nil, nil)
        if !lockedRows.isEmpty { lockedRows = [:] }
        if !newAccounts.isEmpty { newAccounts = [] }
    }

    /// The id that the next row of a table gets, needed before the row is there: its sealed values are bound to it.
    ///
    /// On a server it does not follow from the greatest id, as another process may be about to take the next one.
    func nextID(_ table: SealedTable) throws -> Int64 {
        if connection.isServer { return RowID.next(at: options.now()) }
        let (id, isOverflow) = (try connection.integer(table.greatestID) ?? 0).addingReportingOverflow(1)
        guard !isOverflow else {
            throw TokenStoreError.damaged("a row of \(location) has an id that no program gave", .repair)
        }
        return id
    }
}

extension Secret {
    /// JSON members as text.
    init(_ members: JSONValue.Object) {
        guard !members.isEmpty else {
            self = Secret("{}")
            return
        }
        var bytes: [UInt8] = []
        JSONValue.object(members).write(to: &bytes)
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        self = bytes.withUnsafeBytes { Secret(copying: $0) }
    }
}
