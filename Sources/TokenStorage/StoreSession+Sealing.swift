import OAuth
import SQLite
import Sealing

extension StoreSession {
    /// Opens what `sealer(_:)` sealed as `place`; another process may have brought a new data key meanwhile.
    func open(_ sealed: UnsafeRawBufferPointer, as place: SealedPlace) throws -> Secret {
        guard let id = Sealer.keyID(of: sealed) else { return try currentSealer().open(sealed, as: place) }
        // Not through `keys()`: a copy of the ring costs more than to look into it.
        if let sealer = keyRing?.sealer(id) { return try sealer.open(sealed, as: place) }
        if keyRing != nil { try reloadKeys() }
        guard let sealer = try keys().sealer(id) else { throw SealingError.unknownDataKey(id) }
        return try sealer.open(sealed, as: place)
    }

    func open(_ row: Row, _ column: CInt, as place: SealedPlace) throws -> Secret {
        try open(row.bytes(column), as: place)
    }

    /// The JSON members of a sealed column; none where it is `NULL`.
    func openMembers(_ row: Row, _ column: CInt, as place: SealedPlace) throws -> JSON.Object {
        guard !row.isNull(column) else { return JSON.Object() }
        let secret = try open(row, column, as: place)
        let members = try? secret.withUnsafeBytes { bytes in try JSON(parsing: bytes) }.object
        guard let members else {
            throw SealingError.damagedValue(table: place.table, column: place.column, row: place.row)
        }
        return members
    }

    /// The sealer for new values.
    ///
    /// In a write transaction, use ``write(_:)``: a value sealed under a key that a rekey has just retired
    /// could never be opened again.
    func currentSealer() throws -> Sealer {
        let keys = try keys()
        guard let sealer = keys.sealer(keys.currentID) else { throw SealingError.unknownDataKey(keys.currentID) }
        return sealer
    }

    func seal(_ secret: Secret, as place: SealedPlace) throws -> [UInt8] {
        try currentSealer().seal(secret, as: place)
    }

    /// The members as a sealed JSON object; nil where there are none.
    func sealMembers(_ members: JSON.Object, as place: SealedPlace) throws -> [UInt8]? {
        guard !members.isEmpty else { return nil }
        var bytes: [UInt8] = []
        JSON.object(members).write(to: &bytes)
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        return try bytes.withUnsafeBytes { try currentSealer().seal($0, as: place) }
    }

    /// Runs `body` in a write transaction, with the data key that is current in it.
    func write<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try writeUnderCurrentKey(body)
        } catch is MissingDataKeys {
            // A key source may ask a person, for which no transaction should wait.
            keyRing = nil
            _ = try keys()
            return try writeUnderCurrentKey(body)
        }
    }

    /// A purge of everything has taken the data keys along, and the transaction has not begun its work.
    private struct MissingDataKeys: Error {}

    private func writeUnderCurrentKey<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.write {
            if let keyRing {
                let current = try connection.integer("SELECT id FROM data_key WHERE is_current = 1")
                guard let current else { throw MissingDataKeys() }
                if current != Int64(keyRing.currentID) { try reloadKeys() }
            }
            let result = try body()
            guard !(try isReplaced()) else {
                throw TokenStoreError.busy(
                    "another file took the place of \(path.database) while it was written, and nothing was changed; "
                        + "try again"
                )
            }
            return result
        }
    }

    /// The id the next row of a table gets, needed before the row is there: its sealed values are bound to it.
    func nextID(_ greatest: StaticString) throws -> Int64 {
        let (id, isOverflow) = (try connection.integer(greatest) ?? 0).addingReportingOverflow(1)
        guard !isOverflow else {
            throw TokenStoreError.damaged(
                "a row of \(path.database) has an id that no program gave; run 'tokenstore check --repair'"
            )
        }
        return id
    }
}
