import OAuth
import SQLite
import Sealing

/// An entry of an imported document that is kept as it is: unknown, or in quarantine.
struct ForeignEntry {
    /// Where an entry stands in a document.
    struct Place: Hashable {
        let bucket: String

        /// Nil where the bucket as a whole is kept.
        let key: String?
    }

    let place: Place
    let value: JSON

    /// Why it is in quarantine; nil if it is merely unknown.
    let rejection: String?

    fileprivate var members: JSON.Object {
        var members = JSON.Object([("bucket", .string(bucket))])
        if let key { members["key"] = .string(key) }
        members["value"] = value
        return members
    }

    var bucket: String { place.bucket }
    var key: String? { place.key }

    fileprivate init(_ members: JSON.Object, rejection: String?) {
        self.init(
            Place(bucket: members["bucket"]?.text ?? "", key: members["key"]?.text),
            value: members["value"] ?? .null,
            rejection: rejection
        )
    }

    init(_ place: Place, value: JSON, rejection: String?) {
        self.place = place
        self.value = value
        self.rejection = rejection
    }

    /// What identifies the entry, hashed: a key may hold anything.
    func identity(_ sealer: Sealer) -> [UInt8] {
        var text = bucket + "\u{0}" + (key.map { "\u{1}" + $0 } ?? "")
        return text.withUTF8 { sealer.fingerprint(of: UnsafeRawBufferPointer($0), label: "foreign_entry") }
    }
}

extension StoreSession {
    /// Adds or replaces the entry.
    ///
    /// - Returns: whether anything changed.
    func saveForeignEntry(_ entry: ForeignEntry) throws -> Bool {
        let known = try known(entry)
        if let known, known.entry.value == entry.value, known.entry.rejection == entry.rejection { return false }
        let id = try known?.id ?? nextID("SELECT max(id) FROM foreign_entry")
        try write(
            .foreignEntry,
            id: id,
            clear: [.optional(entry.rejection)],
            sealed: [Secret(entry.members)],
            derived: [.blob(entry.identity(try currentSealer()))]
        )
        return true
    }

    func deleteForeignEntry(_ row: Int64) throws {
        try connection.run("DELETE FROM foreign_entry WHERE id = ?1", .integer(row))
    }

    /// The rows of what is in quarantine, by where it stands.
    func quarantine() throws -> [ForeignEntry.Place: Int64] {
        var rows: [ForeignEntry.Place: Int64] = [:]
        try connection.forEach(Self.rejectedEntries) { row in
            rows[try foreignEntry(row).place] = row.integer(0)
        }
        return rows
    }

    /// The stored entry of the same bucket and key, which a rekey that is under way may not have come to yet.
    private func known(_ entry: ForeignEntry) throws -> (id: Int64, entry: ForeignEntry)? {
        for sealer in try [currentSealer()] + keys().all {
            let known = try connection.first(Self.entryAlike, .blob(entry.identity(sealer))) {
                (id: $0.integer(0), entry: try foreignEntry($0))
            }
            if let known { return known }
        }
        return nil
    }

    /// Calls `body` with each kept entry and its row, those of one import in their order.
    func forEachForeignEntry(_ body: (Int64, ForeignEntry) throws -> Void) throws {
        try connection.forEach(Self.entries) { row in
            try body(row.integer(0), foreignEntry(row))
        }
    }

    private static let entries = SQL(SealedTable.foreignEntry.selection + "ORDER BY t.id")
    private static let rejectedEntries = SQL(SealedTable.foreignEntry.selection + "WHERE t.rejection IS NOT NULL")
    private static let entryAlike = SQL(SealedTable.foreignEntry.selection + "WHERE t.identity = ?1")

    /// The entry of a row that was selected with ``SealedTable/selection``.
    func foreignEntry(_ row: Row) throws -> ForeignEntry {
        ForeignEntry(
            try openMembers(row, of: .foreignEntry),
            rejection: row.optionalText(SealedTable.foreignEntry["rejection"])
        )
    }
}
