import OAuth
import SQLite
import Sealing

/// An entry of an imported document that is kept as it is: unknown, or in quarantine.
struct ForeignEntry {
    let bucket: String

    /// Nil where the bucket as a whole is kept.
    let key: String?
    let value: JSON

    /// Why it is in quarantine; nil if it is merely unknown.
    let rejection: String?

    fileprivate var members: JSON.Object {
        var members = JSON.Object([("bucket", .string(bucket))])
        if let key { members["key"] = .string(key) }
        members["value"] = value
        return members
    }

    fileprivate init(_ members: JSON.Object, rejection: String?) {
        bucket = members["bucket"]?.text ?? ""
        key = members["key"]?.text
        value = members["value"] ?? .null
        self.rejection = rejection
    }

    init(bucket: String, key: String?, value: JSON, rejection: String?) {
        self.bucket = bucket
        self.key = key
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
        let identity = entry.identity(try currentSealer())
        let known = try connection.first(
            "SELECT id, rejection, entry FROM foreign_entry WHERE identity = ?1",
            .blob(identity)
        ) { ($0.integer(0), try foreignEntry($0)) }
        if let known, known.1.value == entry.value, known.1.rejection == entry.rejection { return false }
        let id = try known?.0 ?? nextID("SELECT max(id) FROM foreign_entry")
        guard let sealed = try sealMembers(entry.members, as: .foreignEntry(id)) else { return false }
        try connection.run(
            "INSERT OR REPLACE INTO foreign_entry (id, identity, rejection, entry) VALUES (?1, ?2, ?3, ?4)",
            .integer(id),
            .blob(identity),
            .optional(entry.rejection),
            .blob(sealed)
        )
        return true
    }

    /// Calls `body` with each kept entry, those of one import in their order.
    func forEachForeignEntry(_ body: (ForeignEntry) throws -> Void) throws {
        try connection.forEach("SELECT id, rejection, entry FROM foreign_entry ORDER BY id") { row in
            try body(foreignEntry(row))
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
