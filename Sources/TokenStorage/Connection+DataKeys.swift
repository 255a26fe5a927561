import OAuth
import SQLite
import Sealing

extension Connection {
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
