import Database
import OAuth
import Sealing

/// The data keys of a store, unwrapped.
struct KeyRing: Sendable {
    let keyEncryptionKey: KeyEncryptionKey
    let storeID: [UInt8]

    /// One, or two while a rekey is under way: fewer than a dictionary is worth.
    private var sealers: [Sealer] = []
    private(set) var currentID: UInt32 = 0

    /// Whether keys that do not open are left out, as far as values can be read without them.
    private var isSalvage = false

    /// Unwraps every data key of the store.
    ///
    /// - Throws: `SealingError` if the key is not the one they are wrapped under.
    init(_ key: KeyEncryptionKey, storeID: [UInt8], from connection: Connection) throws {
        try self.init(key, storeID: storeID, unwrapping: connection.wrappedDataKeys())
    }

    init(
        _ key: KeyEncryptionKey,
        storeID: [UInt8],
        unwrapping wrapped: [WrappedDataKey],
        salvaging: Bool = false
    ) throws {
        keyEncryptionKey = key
        self.storeID = storeID
        isSalvage = salvaging
        try take(wrapped)
    }

    /// The keys of a store that holds nothing, which an inspection may ask and nothing was ever sealed under.
    static var openingNothing: KeyRing { KeyRing() }

    private init() {
        (keyEncryptionKey, storeID) = (.random(), [])
        sealers = [Sealer(key: DataKey(id: 0))]
    }

    /// Reads the keys again, after another process has replaced them.
    ///
    /// - Throws: ``TokenStoreError/Code/damaged`` if there are none: what is asked for a key was sealed under one.
    mutating func reload(from connection: Connection, at location: StoreLocation) throws {
        let rows = try connection.wrappedDataKeys()
        guard !rows.isEmpty else { throw TokenStoreError.lostKeys(at: location) }
        try take(rows)
    }

    private mutating func take(_ rows: [WrappedDataKey]) throws {
        var reloaded: [Sealer] = []
        var replacesOlder = false
        var damaged: (id: UInt32, error: any Error)?
        for row in rows {
            do {
                let key = try unwrap(row)
                // One that was undone may have had the number that another program has given to its own since.
                let known = sealer(row.id).flatMap { $0.isOf(key) ? $0 : nil }
                reloaded.append(known ?? Sealer(key: key))
                guard row.isCurrent else { continue }
                (currentID, replacesOlder) = (row.id, key.replacesOlder)
            } catch let error where !row.isCurrent {
                damaged = damaged ?? (row.id, error)
            }
        }
        // An old key that was put back opens nothing: what it sealed could be given another purpose.
        let current = reloaded.first { $0.keyID == currentID }
        // Without a row that is current, what is wrong with the others says more.
        guard let current else { throw damaged?.error ?? SealingError.unknownDataKey(currentID) }
        if let damaged, !isSalvage { throw SealingError.damagedOlderKey(damaged.id) }
        if current.format == .bound, !replacesOlder { reloaded.removeAll { $0.format != .bound } }
        sealers = reloaded
    }

    /// Unwraps a data key, which names the one that opens it in two places: a flipped bit in one of them is damage, and
    /// not another key.
    private func unwrap(_ row: WrappedDataKey) throws -> DataKey {
        let isNamed = row.keyID == keyEncryptionKey.id
        do {
            let key = try keyEncryptionKey.unwrap(row.wrapped, id: row.id, storeID: storeID)
            guard isNamed || isSalvage else { throw SealingError.misnamedDataKey(row.id) }
            return key
        } catch let error as SealingError where !isNamed && [.otherKey, .unknownFormat].contains(error.code) {
            throw SealingError.otherKey(wanted: row.keyID, found: keyEncryptionKey.id)
        } catch let error as SealingError where error.code == .otherKey {
            let key = try keyEncryptionKey.unwrap(row.wrapped, id: row.id, storeID: storeID, isNamed: false)
            guard isSalvage else { throw SealingError.misnamedDataKey(row.id) }
            return key
        }
    }

    /// A data key wrapped anew, so that its row can name the key that opens it.
    fileprivate func rewrapped(_ row: WrappedDataKey) throws -> [UInt8] {
        try keyEncryptionKey.wrap(unwrap(row), storeID: storeID)
    }

    var currentSealer: Sealer? { sealer(currentID) }

    /// Whether values may be of the format that binds them to their place alone.
    var hasUnbound: Bool { sealers.contains { $0.format == .placed } }

    var ids: Set<UInt32> { Set(sealers.map(\.keyID)) }

    /// Inlined, as a call would copy the ring.
    @inline(__always)
    func sealer(_ id: UInt32) -> Sealer? { sealers.first { $0.keyID == id } }

    /// Every key that values may be sealed under.
    var all: [Sealer] { sealers }

    /// The data key `id` of the store, wrapped under another key.
    func rewrap(_ id: UInt32, under key: KeyEncryptionKey, from connection: Connection) throws -> [UInt8] {
        guard let wrapped = try connection.wrappedDataKey(id) else { throw SealingError.unknownDataKey(id) }
        return try key.wrap(keyEncryptionKey.unwrap(wrapped, id: id, storeID: storeID), storeID: storeID)
    }

    /// The current data key, wrapped as the only one: without older keys.
    func wrappedAlone(from connection: Connection) throws -> [UInt8] {
        let wrapped = try connection.currentWrappedDataKey()
        let key = try keyEncryptionKey.unwrap(wrapped ?? [], id: currentID, storeID: storeID)
        return try keyEncryptionKey.wrap(key.replacingOlder(false), storeID: storeID)
    }
}

extension StoreConnection {
    /// The data keys that rows may be sealed or hashed under at this moment.
    ///
    /// A value names its key, a hash does not: one under a key that a rekey has retired is found nowhere.
    func currentKeys() throws -> KeyRing {
        let ring = try keys()
        guard Set(try connection.dataKeyIDs()) != ring.ids else { return ring }
        do {
            // Between two looks a purge could take all of them.
            return try connection.read {
                if try connection.dataKeyCount() == 0 { return .openingNothing }
                try reloadKeysAtHand()
                return try keys()
            }
        } catch is MissingDataKeys {
            try fetchKeys()
            return try keys()
        }
    }

    /// Writes anew what the store says of its keys, once they were opened: by which key, and from which source that is.
    func correctKeyNames() throws {
        let ring = try keys()
        for row in try connection.wrappedDataKeys() {
            try connection.rewrapDataKey(row.id, ring.rewrapped(row), under: ring.keyEncryptionKey.id)
        }
        try nameKeySource()
    }

    /// Writes down where the keys come from that were opened, of a store that does not say so.
    func nameKeySource() throws {
        guard !header.namesKeySource else { return }
        try setKeySource(keySource(), header.keyParameters)
        header = try StoreHeader(connection, at: location)
    }

    /// Reads the data keys again, after another process has replaced them, or moved them to another key source.
    func reloadKeys() throws {
        do {
            try reloadKeysAtHand()
        } catch is MissingDataKeys {
            try fetchKeys()
        }
    }

    /// The same in a transaction that writes, which waits for no key source: that may ask a person.
    ///
    /// - Throws: ``MissingDataKeys`` where another source has the key now.
    func reloadKeysAtHand() throws {
        if connection.isServer, try StoreHeader(connection, at: location).storeID != header.storeID {
            throw ReplacedStore()
        }
        do {
            try keyRing?.reload(from: connection, at: location)
        } catch let error as SealingError where error.code == .otherKey {
            throw MissingDataKeys()
        }
    }

    /// Has the key source give the key anew.
    func fetchKeys() throws {
        let old = keyRing
        keyRing = nil
        do {
            _ = try keys()
        } catch {
            // With no key ring this connection would pass for one opened without a key, which verifies nothing.
            keyRing = old
            throw error
        }
    }
}

/// A transaction cannot go on without the key source, for which it should not wait: another source has the key now, a
/// purge of everything has taken the data keys along, or the store was moved and the key tells where to.
struct MissingDataKeys: Error {}

extension TokenStoreError {
    static func restlessKeys(of location: StoreLocation) -> TokenStoreError {
        busy("the keys of \(location) change all the time", .retryLater)
    }

    static func unnamedKeySource(of location: StoreLocation) -> TokenStoreError {
        damaged("\(location) does not say where its key comes from", .nameKeySource)
    }

    static func lostKeys(at location: StoreLocation) -> TokenStoreError {
        damaged(
            "\(location) has lost its data keys, and nothing in it opens without them",
            location.path == nil ? .newDataKey : .startAnew
        )
    }
}

extension SealingError {
    /// The error for a key source that a caller named although the key comes from another one.
    static func keyElsewhere(_ key: String, _ recorded: String, _ given: KeySource) -> SealingError {
        .keyUnavailable("\(key) comes from '\(recorded)', not from '\(given)'", .moveKey(to: given.description))
    }
}

extension Remedy {
    /// For a store that does not say where its key comes from; a repair writes it down.
    static let nameKeySource = Remedy(.changeKey, "repair the store and name the source of its key")
}
