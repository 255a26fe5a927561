import OAuth
import SQLite
import Sealing

/// The data keys of a store, unwrapped.
struct KeyRing: Sendable {
    let keyEncryptionKey: KeyEncryptionKey
    private let storeID: [UInt8]
    private var sealers: [UInt32: Sealer] = [:]
    private(set) var currentID: UInt32 = 0

    /// Unwraps every data key of the store.
    ///
    /// - Throws: `SealingError` if the key is not the one they are wrapped under.
    init(_ key: KeyEncryptionKey, storeID: [UInt8], from connection: Connection) throws {
        keyEncryptionKey = key
        self.storeID = storeID
        try reload(from: connection)
    }

    /// The keys of a store that holds nothing, which an inspection may ask and nothing was ever sealed under.
    static var openingNothing: KeyRing { KeyRing() }

    private init() {
        (keyEncryptionKey, storeID) = (.random(), [])
        sealers = [0: Sealer(key: DataKey(id: 0))]
    }

    /// Reads the keys again, after another process has replaced them.
    mutating func reload(from connection: Connection) throws {
        let rows = try connection.all("SELECT id, wrapped, key_encryption_key_id, is_current FROM data_key") { row in
            (UInt32(truncatingIfNeeded: row.integer(0)), row.blob(1), row.text(2), row.bool(3))
        }
        var reloaded: [UInt32: Sealer] = [:]
        var replacesOlder = false
        for (id, wrapped, keyID, isCurrent) in rows {
            if keyID != keyEncryptionKey.id {
                throw SealingError.otherKey(wanted: keyID, found: keyEncryptionKey.id)
            }
            let key = try keyEncryptionKey.unwrap(wrapped, id: id, storeID: storeID)
            reloaded[id] = sealers[id] ?? Sealer(key: key)
            guard isCurrent else { continue }
            (currentID, replacesOlder) = (id, key.replacesOlder)
        }
        // An old key that was put back opens nothing: what it sealed could be given another purpose.
        if reloaded[currentID]?.format == .bound, !replacesOlder { reloaded = reloaded.filter { $1.format == .bound } }
        guard reloaded[currentID] != nil else { throw SealingError.unknownDataKey(currentID) }
        sealers = reloaded
    }

    /// Whether values may be of the format that binds them to their place alone.
    var hasUnbound: Bool { sealers.values.contains { $0.format == .placed } }

    var ids: Set<UInt32> { Set(sealers.keys) }

    func sealer(_ id: UInt32) -> Sealer? { sealers[id] }

    /// Every key that values may be sealed under: one, or two while a rekey is under way.
    var all: [Sealer] { Array(sealers.values) }

    /// The data key `id` of the store, wrapped under another key.
    func rewrap(_ id: UInt32, under key: KeyEncryptionKey, from connection: Connection) throws -> [UInt8] {
        let wrapped = try connection.first("SELECT wrapped FROM data_key WHERE id = ?1", .integer(Int64(id))) {
            $0.blob(0)
        }
        guard let wrapped else { throw SealingError.unknownDataKey(id) }
        return try key.wrap(keyEncryptionKey.unwrap(wrapped, id: id, storeID: storeID), storeID: storeID)
    }

    /// The current data key, wrapped as one beside which there is no older one.
    func wrappedAlone(from connection: Connection) throws -> [UInt8] {
        let wrapped = try connection.first("SELECT wrapped FROM data_key WHERE is_current = 1") { $0.blob(0) }
        let key = try keyEncryptionKey.unwrap(wrapped ?? [], id: currentID, storeID: storeID)
        return try keyEncryptionKey.wrap(key.replacingOlder(false), storeID: storeID)
    }
}
