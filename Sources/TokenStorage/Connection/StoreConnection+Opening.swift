import Database
import OAuth
import SQL
import Sealing

extension StoreConnection {
    /// Opens what was sealed at `location`; another process may have added a data key meanwhile.
    func open(
        _ sealed: UnsafeRawBufferPointer,
        as location: SealedLocation,
        with clear: UnsafeRawBufferPointer = .empty
    ) throws -> Secret {
        guard let id = Sealer.keyID(of: sealed) else {
            return try currentSealer().open(sealed, as: location, with: clear)
        }
        // Not through `keys()`: a copy of the ring costs more than to look into it.
        if let sealer = keyRing?.sealer(id) { return try sealer.open(sealed, as: location, with: clear) }
        if keyRing != nil { try reloadKeys() }
        guard let sealer = try keys().sealer(id) else { throw SealingError.unknownDataKey(id) }
        return try sealer.open(sealed, as: location, with: clear)
    }

    /// Opens a sealed column of a row that was selected with the table's ``SealedTable/selection``, whose columns begin
    /// with `start`.
    func open(_ row: Row, of table: SealedTable, _ index: Int = 0, from start: CInt = 0) throws -> Secret {
        let hasFurther = bind(row, of: table, from: start)
        let (sealed, location) = (start + table.firstSealed + CInt(index), table.location(index, of: row, from: start))
        do {
            return try open(row.bytes(sealed), as: location, with: clearValues.bytes)
        } catch let error as SealingError where hasFurther && error.code == .damagedValue {
            // Versions before this one bound a value to the clear columns alone.
            bind(row, of: table, from: start, withFurther: false)
            return try open(row.bytes(sealed), as: location, with: clearValues.bytes)
        }
    }

    /// Collects what the sealed columns of a row are bound to: its clear columns, and which sealed ones it has beside its
    /// proof, so that none can be taken away.
    ///
    /// - Returns: whether it has any.
    @discardableResult
    func bind(
        _ row: Row,
        of table: SealedTable,
        from start: CInt = 0,
        withFurther: Bool = true
    ) -> Bool {
        clearValues.removeAll()
        clearValues.append(row, start + table.bound.lowerBound..<start + table.bound.upperBound)
        guard withFurther, table.sealed.count > 1 else { return false }
        var hasFurther = false
        for index in 1..<table.sealed.count where !row.isNull(start + table.firstSealed + CInt(index)) {
            clearValues.append(.text(table.sealed[index]))
            hasFurther = true
        }
        return hasFurther
    }

    /// Opens a column whose value is absent where there is nothing to say; a row's proof never is.
    func openIfPresent(_ row: Row, of table: SealedTable, _ index: Int = 0, from start: CInt = 0) throws -> Secret? {
        guard row.isNull(start + table.firstSealed + CInt(index)) else {
            return try open(row, of: table, index, from: start)
        }
        // Before values were bound to their rows, there was no proof.
        guard try index > 0 || keys().hasUnbound || table.needsNoProof(row) else {
            throw SealingError.damaged(table.location(index, of: row, from: start))
        }
        return nil
    }

    /// Opens all sealed columns of a row, in the order of the table's definition; those that are absent are nil.
    func openAll(_ row: Row, of table: SealedTable) throws -> [Secret?] {
        try table.sealed.indices.map { try openIfPresent(row, of: table, $0) }
    }

    /// Makes sure that the clear columns of a row are those that the program wrote.
    ///
    /// Without the key this is not known; rows can still be counted and deleted.
    func verify(_ row: Row, of table: SealedTable, from start: CInt = 0) throws {
        guard !isWithoutKey else { return }
        _ = try openIfPresent(row, of: table, from: start)
    }

    /// Whether a row that can be done without is as the program wrote it; one that was altered counts for nothing.
    func isIntact(_ row: Row, of table: SealedTable) throws -> Bool { try intact { try verify(row, of: table) } != nil }

    /// Whether the store was opened without its key.
    var isWithoutKey: Bool { keyRing == nil && !options.unlocks }

    /// The JSON members of a sealed column; none where it is absent.
    func openMembers(_ row: Row, of table: SealedTable, _ index: Int = 0) throws -> JSONValue.Object {
        guard let secret = try openIfPresent(row, of: table, index) else { return JSONValue.Object() }
        let members = try? secret.withUnsafeBytes { bytes in try JSONValue(parsing: bytes) }.object
        guard let members else { throw SealingError.damaged(table.location(index, of: row)) }
        return members
    }

    private static let alterations: Set<SealingError.Code> = [.damagedValue, .unknownFormat, .unknownDataKey]

    /// What `body` reads of a row that is about to be replaced; nil where the row was altered or damaged.
    func intact<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch let error as SealingError where Self.alterations.contains(error.code) {
            return nil
        }
    }
}

extension SealedTable {
    /// The place of a sealed column of a row that was selected with ``selection``.
    func location(_ index: Int, of row: Row, from start: CInt = 0) -> SealedLocation {
        SealedLocation(table: name, column: sealed[index], owner: row.integer(start + 1), row: row.integer(start))
    }
}
