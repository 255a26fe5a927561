import OAuth
import SQLite
import Sealing

/// The data keys of a store, unwrapped.
struct KeyRing: Sendable {
    let keyEncryptionKey: KeyEncryptionKey
    let storeID: [UInt8]
    private var sealers: [UInt32: Sealer] = [:]
    private(set) var currentID: UInt32 = 0

    /// Unwraps every data key of the store.
    ///
    /// - Throws: `SealingError` if the key is not the one they are wrapped under.
    init(_ key: KeyEncryptionKey, storeID: [UInt8], from connection: Connection) throws {
        try self.init(key, storeID: storeID, unwrapping: connection.wrappedDataKeys())
    }

    init(_ key: KeyEncryptionKey, storeID: [UInt8], unwrapping wrapped: [WrappedDataKey]) throws {
        keyEncryptionKey = key
        self.storeID = storeID
        try take(wrapped)
    }

    /// The keys of a store that holds nothing, which an inspection may ask and nothing was ever sealed under.
    static var openingNothing: KeyRing { KeyRing() }

    private init() {
        (keyEncryptionKey, storeID) = (.random(), [])
        sealers = [0: Sealer(key: DataKey(id: 0))]
    }

    /// Reads the keys again, after another process has replaced them.
    mutating func reload(from connection: Connection) throws { try take(connection.wrappedDataKeys()) }

    private mutating func take(_ rows: [WrappedDataKey]) throws {
        var reloaded: [UInt32: Sealer] = [:]
        var replacesOlder = false
        for row in rows {
            if row.keyID != keyEncryptionKey.id {
                throw SealingError.otherKey(wanted: row.keyID, found: keyEncryptionKey.id)
            }
            let key = try keyEncryptionKey.unwrap(row.wrapped, id: row.id, storeID: storeID)
            reloaded[row.id] = sealers[row.id] ?? Sealer(key: key)
            guard row.isCurrent else { continue }
            (currentID, replacesOlder) = (row.id, key.replacesOlder)
        }
        // An old key that was put back opens nothing: what it sealed could be given another purpose.
        if reloaded[currentID]?.format == .bound, !replacesOlder { reloaded = reloaded.filter { $1.format == .bound } }
        guard reloaded[currentID] != nil else { throw SealingError.unknownDataKey(currentID) }
        sealers = reloaded
    }

    var currentSealer: Sealer? { sealers[currentID] }

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
