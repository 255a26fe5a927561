import OAuth
import SQLite
import Sealing

/// A data key as the store holds it.
struct WrappedDataKey: Hashable {
    let id: UInt32
    let wrapped: [UInt8]

    /// The id of the key-encryption key it is wrapped under.
    let keyID: String
    let isCurrent: Bool
}

extension Connection {
    func wrappedDataKeys() throws -> [WrappedDataKey] {
        try all("SELECT id, wrapped, key_encryption_key_id, is_current FROM data_key") { row in
            WrappedDataKey(
                id: UInt32(truncatingIfNeeded: row.integer(0)),
                wrapped: row.blob(1),
                keyID: row.text(2),
                isCurrent: row.integer(3) == 1
            )
        }
    }

    /// Adds `key`, wrapped, as the one that seals new values.
    func insertDataKey(_ key: DataKey, under wrapping: KeyEncryptionKey, storeID: [UInt8], at now: Int64) throws {
        try run("UPDATE data_key SET is_current = 0")
        try run(
            """
            INSERT INTO data_key (id, wrapped, key_encryption_key_id, is_current, created_at)
            VALUES (?1, ?2, ?3, 1, ?4)
            """,
            .integer(Int64(key.id)),
            .blob(try wrapping.wrap(key, storeID: storeID)),
            .text(wrapping.id),
            .integer(now)
        )
    }
}
