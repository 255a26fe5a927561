import OAuth
import SQLite
public import Sealing

extension TokenStore {
    /// Seals everything anew under a new data key, or, given a `source`, wraps the data keys under a key from there.
    ///
    /// Killed at any moment, every value stays readable, and the next call finishes the work. Others may read and
    /// write meanwhile. When it returns, nothing sealed under the old key is in any file.
    ///
    /// - Throws: ``TokenStoreError/busy(_:)`` if another process is rekeying.
    public func rekey(
        to source: KeySource? = nil,
        progress: ((Progress) -> Void)? = nil
    ) throws -> RekeyReport {
        // Readers that wait were given the old key; a new one takes the writer's.
        defer { if source != nil { closeReaders() } }
        return try withWriter { session in
            let lock = try KernelLock(.rekey, of: path, timeout: options.busyTimeout)
            defer { withExtendedLifetime(lock) {} }
            if let source { return try session.changeSource(to: source) }
            let isResumed = try session.write { try session.startRekey() }
            let resealed = try session.resealEverything(progress)
            try session.write { try session.finishRekey() }
            try session.emptyLog()
            return RekeyReport(
                resealed: resealed,
                keySource: session.header.keySource,
                resumed: isResumed,
                note: nil
            )
        }
    }
}

extension StoreSession {
    /// Makes a new data key current, unless a rekey is under way already.
    fileprivate func startRekey() throws -> Bool {
        let ids = try connection.all("SELECT id FROM data_key ORDER BY id") { $0.integer(0) }
        guard ids.count == 1, let last = ids.last else { return true }
        // The header of a sealed value names its key in four bytes.
        guard let id = UInt32(exactly: last + 1) else {
            throw TokenStoreError.storage("the store has used up its key ids; export it and import it into a new one")
        }
        try connection.insertDataKey(
            DataKey(id: id),
            under: keys().keyEncryptionKey,
            storeID: header.storeID,
            at: now
        )
        try keyRing?.reload(from: connection)
        try record(.rekey, outcome: "started")
        return false
    }

    fileprivate func finishRekey() throws {
        try connection.run("DELETE FROM data_key WHERE is_current = 0")
        try keyRing?.reload(from: connection)
        try record(.rekey)
    }

    /// Wraps every data key under the key of another source; no row is rewritten.
    fileprivate func changeSource(to source: KeySource) throws -> RekeyReport {
        let old = try keySource()
        let (key, parameters) = try source.create(keyContext([:]))
        let ring = try keys()
        try connection.write {
            for sealer in try connection.all(
                "SELECT id FROM data_key",
                body: { UInt32(truncatingIfNeeded: $0.integer(0)) }
            ) {
                try connection.run(
                    "UPDATE data_key SET wrapped = ?2, key_encryption_key_id = ?3 WHERE id = ?1",
                    .integer(Int64(sealer)),
                    .blob(try ring.rewrap(sealer, under: key, from: connection)),
                    .text(key.id)
                )
            }
            try connection.run(
                "UPDATE store SET key_source = ?1, key_parameters = ?2",
                .text(source.recorded.description),
                .text(StoreHeader.text(parameters))
            )
            try record(.rekey, outcome: "key source \(source.kind.rawValue)")
        }
        keyRing = try KeyRing(key, storeID: header.storeID, from: connection)
        header = try StoreHeader(connection, at: path)
        try emptyLog()
        let note =
            old.kind == .file && source != old
            ? "the old key file still opens old copies of the store; delete it when no copy needs it" : nil
        return RekeyReport(resealed: 0, keySource: source.description, resumed: false, note: note)
    }
}
