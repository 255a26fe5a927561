import Database
import OAuth
import SQL
import Sealing

/// Where a store says that it was moved to.
struct NewPlace {
    /// The place, as an entry says that was written with the store's key; nil where there is none, or no key to tell.
    ///
    /// Anyone who could write to the store may have made it say so, and would get the sign-ins of all who follow it.
    let address: String?

    /// Why there is no key to tell.
    var keyProblem: String?

    /// The place as words of a sentence.
    var name: String { address ?? "another place" }
}

extension StoreConnection {
    /// Where the store was moved to; nil if it was not.
    ///
    /// Where the keys are not at hand, they are fetched to tell.
    func newPlace() throws -> NewPlace? {
        guard try isMoved() else { return nil }
        do {
            return try newPlace(under: availableKeys())
        } catch let error as SealingError {
            return NewPlace(address: nil, keyProblem: error.problem)
        }
    }

    func isMoved() throws -> Bool {
        if connection.isServer {
            return try connection.integer("SELECT 1 FROM store WHERE id = 1 AND moved_to IS NOT NULL") != nil
        }
        return try connection.integer("SELECT 1 FROM data_key WHERE is_current = 2") != nil
    }

    /// Makes sure that the role may move the store away, before anything is made at another place.
    func requireMovable() throws {
        guard connection.isServer, try connection.integer(Self.mayMove) == nil else { return }
        throw TokenStoreError(
            .access,
            "the role of \(location) may not move the store away",
            Remedy(.checkPermissions, "name the role that owns its tables")
        )
    }

    private static let mayMove: StaticString = """
        SELECT 1::bigint WHERE has_column_privilege('store'::text, 'moved_to'::text, 'UPDATE'::text)
        """

    /// Makes sure that the role may give up the key of marks that is left of earlier accounts, before the source is
    /// frozen.
    func requireFillable() throws {
        guard connection.isServer, try rowCount([.markKey]) != 0, try connection.integer(Self.mayHoldWriters) == nil
        else { return }
        throw TokenStoreError(
            .access,
            "the role of \(location) may not fill a store that was used before",
            Remedy(.checkPermissions, "name the role that owns its tables")
        )
    }

    private static let mayHoldWriters: StaticString = """
        SELECT 1::bigint WHERE has_table_privilege('store'::text, 'UPDATE, DELETE, TRUNCATE'::text)
        """

    /// The keys, also of a store that was opened without them.
    private func availableKeys() throws -> KeyRing {
        if let keyRing { return keyRing }
        let key = try keySource().load(keyContext(header.keyParameters))
        return try KeyRing(key, storeID: header.storeID, unwrapping: connection.wrappedDataKeys())
    }

    /// Where the last entry about a move from here says that the store is; only those count that open under `keys`.
    func newPlace(under keys: KeyRing) throws -> NewPlace {
        let own = keyRing
        defer { keyRing = own }
        keyRing = keys
        let table = SealedTable.event
        var address: String?
        try connection.forEach(Self.entriesOfMoves) { row in
            guard try isIntact(row, of: table) else { return }
            let outcome = row.text(table["outcome"])
            // What was moved to here brought along the entry that it is here.
            address = CopyMark.isOutcome(outcome) ? nil : Self.place(in: outcome) ?? address
        }
        return NewPlace(address: try !connection.isServer || movedTo() == address ? address : nil)
    }

    /// What a server's row says.
    private func movedTo() throws -> String? {
        try connection.first("SELECT moved_to FROM store WHERE id = 1") { $0.optionalText(0) } ?? nil
    }

    private static let entriesOfMoves = SQL(SealedTable.event.selection + "WHERE t.kind = 'move' ORDER BY t.id")

    /// A purge of everything on a server leaves only the entry that all was moved.
    private static func place(in outcome: String) -> String? {
        if let place = outcome.droppingPrefix(movedTo) { return String(place) }
        let end = outcome.droppingPrefix(finished)?.drop(while: \.isNumber)
        return end.flatMap { String($0).droppingPrefix(accountsAt) }.map(String.init)
    }

    static let movedTo = "to "
    /// A purge of everything on a server leaves entries that begin so.
    static let finished = "all "
    static let accountsAt = " accounts are at "

    /// Requires that the store was not moved; a transaction with a key asks a server itself.
    ///
    /// Not in a transaction, none of which should wait for a key.
    func requireNotMoved() throws {
        guard !connection.isServer || isWithoutKey, let place = try newPlace() else { return }
        throw TokenStoreError.moved(from: location, to: place)
    }

    /// Requires, in a transaction, that the store was not moved since ``requireNotMoved()``.
    func requireStillNotMoved() throws {
        guard !connection.isServer || isWithoutKey, try isMoved() else { return }
        throw TokenStoreError.busy("\(location) was moved meanwhile, and nothing was changed", .retry)
    }

    /// That nothing proves what a store says of a move.
    func moveProblems() throws -> [StoreProblem] {
        guard let place = try newPlace(), place.address == nil else { return [] }
        let remedy = Remedy.undoMove(of: location.fullDescription)
        return [
            StoreProblem(
                location: connection.isServer ? "store, moved_to" : "data_key, is_current",
                problem: "it says that the store was moved, which no entry proves: \(remedy.advice)",
                remedy: remedy
            )
        ]
    }
}

extension Connection {
    /// Whether nothing is left that was sealed under a data key, but for entries that a server's store was moved away,
    /// which a purge of everything leaves.
    func holdsNothingSealed() throws -> Bool {
        let isEmpty = try SealedTable.all.allSatisfy { table in
            if isServer, table === SealedTable.event { return true }
            return try !table.hasValues(in: self)
        }
        guard isEmpty, isServer else { return isEmpty }
        return try integer("SELECT 1::bigint FROM event WHERE mac IS NOT NULL AND kind <> 'move' LIMIT 1") == nil
    }

    /// Forgets, in the transaction that takes the data keys of such a store or makes new ones, that it was moved away:
    /// no key proves it any more, and an entry without proof would be taken for a planted one.
    func forgetMoves() throws {
        guard isServer else { return }
        try execute("DELETE FROM event WHERE kind = 'move'")
        try execute("UPDATE store SET moved_to = NULL WHERE id = 1")
    }
}

extension TokenStoreError {
    static func moved(from location: StoreLocation, to place: NewPlace) -> TokenStoreError {
        guard let address = place.address else { return unprovedMove(from: location, place.keyProblem) }
        return TokenStoreError(
            .moved,
            "the store at \(location) was moved to \(address)",
            Remedy(.choosePath, "name the store with its new place")
        ).at(location)
    }

    /// `reason` is why the key cannot be had that would prove it.
    static func unprovedMove(from location: StoreLocation, _ reason: String? = nil) -> TokenStoreError {
        TokenStoreError(
            .moved,
            "the store at \(location) says that it was moved, which "
                + (reason.map { "nothing proves without its key (\($0))" } ?? "nothing in it proves"),
            .undoMove(of: location.fullDescription)
        ).at(location)
    }
}
