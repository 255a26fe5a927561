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

        /// The names as they were written, with their quotes, where no text can hold them: half of a character has no
        /// place in one.
        var rawBucket: String?
        var rawKey: String?

        /// The names as JSON.
        var bucketJSON: String { rawBucket ?? JSON.string(bucket).serialized }
        var keyJSON: String { rawKey ?? JSON.string(key ?? "").serialized }
    }

    let place: Place

    /// What the entry says, as well as it can be read.
    let value: JSON

    /// The value as it was written, where it is odd JSON, such as half of a character.
    var raw: String?

    /// Why it is in quarantine; nil if it is merely unknown.
    let rejection: String?

    fileprivate var members: JSON.Object {
        var members = JSON.Object([("bucket", .string(bucket))])
        if let key { members["key"] = .string(key) }
        let raws = [("rawBucket", place.rawBucket), ("rawKey", place.rawKey), ("raw", raw)]
        for case (let name, let raw?) in raws { members[name] = .string(raw) }
        if raw == nil { members["value"] = value }
        return members
    }

    var bucket: String { place.bucket }
    var key: String? { place.key }

    fileprivate init(_ members: JSON.Object, rejection: String?) {
        place = Place(
            bucket: members["bucket"]?.text ?? "",
            key: members["key"]?.text,
            rawBucket: members["rawBucket"]?.text,
            rawKey: members["rawKey"]?.text
        )
        raw = members["raw"]?.text
        // It was read before it was kept.
        value = raw.map { (try? JSON.mended($0)) ?? .null } ?? members["value"] ?? .null
        self.rejection = rejection
    }

    init(_ place: Place, value: JSON, raw: String? = nil, rejection: String?) {
        self.place = place
        self.value = value
        self.raw = raw
        self.rejection = rejection
    }

    /// What identifies the entry, hashed: a key may hold anything.
    func identity(_ sealer: Sealer) -> [UInt8] {
        var text = bucket + "\u{0}" + (key.map { "\u{1}" + $0 } ?? "")
        for raw in [place.rawBucket, place.rawKey] { text += raw.map { "\u{2}" + $0 } ?? "" }
        return text.withUTF8 { sealer.fingerprint(of: UnsafeRawBufferPointer($0), label: "foreign_entry") }
    }
}

extension StoreSession {
    /// Adds or replaces the entry.
    ///
    /// - Returns: whether anything changed.
    func saveForeignEntry(_ entry: ForeignEntry) throws -> Bool {
        let known = try known(entry)
        if let known = known?.entry, known.value == entry.value, known.raw == entry.raw,
            known.rejection == entry.rejection
        {
            return false
        }
        let id = try known?.id ?? nextID("SELECT max(id) FROM foreign_entry")
        guard let sealed = try sealMembers(entry.members, as: .foreignEntry(id)) else { return false }
        try connection.run(
            "INSERT OR REPLACE INTO foreign_entry (id, identity, rejection, entry) VALUES (?1, ?2, ?3, ?4)",
            .integer(id),
            .blob(entry.identity(try currentSealer())),
            .optional(entry.rejection),
            .blob(sealed)
        )
        return true
    }

    func deleteForeignEntry(_ row: Int64) throws {
        try connection.run("DELETE FROM foreign_entry WHERE id = ?1", .integer(row))
    }

    /// The rows of what is in quarantine, by where it stands.
    func quarantine() throws -> [ForeignEntry.Place: Int64] {
        var rows: [ForeignEntry.Place: Int64] = [:]
        try connection.forEach("SELECT id, rejection, entry FROM foreign_entry WHERE rejection IS NOT NULL") { row in
            rows[try foreignEntry(row).place] = row.integer(0)
        }
        return rows
    }

    /// The stored entry of the same bucket and key, which a rekey that is under way may not have come to yet.
    private func known(_ entry: ForeignEntry) throws -> (id: Int64, entry: ForeignEntry)? {
        for sealer in try [currentSealer()] + keys().all {
            let known = try connection.first(
                "SELECT id, rejection, entry FROM foreign_entry WHERE identity = ?1",
                .blob(entry.identity(sealer))
            ) { (id: $0.integer(0), entry: try foreignEntry($0)) }
            if let known { return known }
        }
        return nil
    }

    /// Calls `body` with each kept entry and its row, those of one import in their order.
    func forEachForeignEntry(_ body: (Int64, ForeignEntry) throws -> Void) throws {
        try connection.forEach("SELECT id, rejection, entry FROM foreign_entry ORDER BY id") { row in
            try body(row.integer(0), foreignEntry(row))
        }
    }

    func foreignEntry(_ row: Row) throws -> ForeignEntry {
        ForeignEntry(try openMembers(row, 2, as: .foreignEntry(row.integer(0))), rejection: row.optionalText(1))
    }
}

extension SealedPlace {
    static func foreignEntry(_ row: Int64) -> SealedPlace {
        SealedPlace(table: "foreign_entry", column: "entry", row: row)
    }
}
