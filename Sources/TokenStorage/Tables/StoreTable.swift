import Database
import OAuth
import SQL
import Sealing

// The tables `store` and `data_key`: what a file is, and the keys of its values.

/// The row that says what a file is, and who may use it.
package struct StoreHeader {
    package let userVersion: Int
    package let schemaVersion: Int
    package let readerFloor: Int
    package let writerFloor: Int
    package let writtenBy: String
    package let storeID: [UInt8]
    package let keySource: String
    package let keyParameters: [String: String]
    package let createdAt: Int64

    /// Reads the header, as of one moment: a migration or a rekey may be under way.
    ///
    /// - Throws: ``TokenStoreError/Code/damaged`` if the file is a database of something else.
    init(_ connection: Connection, at location: StoreLocation) throws {
        self = try connection.read { try Self.read(connection, at: location) }
    }

    init(_ connection: Connection, at path: StorePath) throws {
        try self.init(connection, at: StoreLocation(path))
    }

    private static func read(_ connection: Connection, at location: StoreLocation) throws -> StoreHeader {
        var userVersion: Int?
        if let path = location.path {
            try requireApplicationID(connection, at: path)
            userVersion = Int(try connection.integer("PRAGMA user_version") ?? 0)
        }
        let header = try connection.first(
            """
            SELECT schema_version, reader_floor, writer_floor, written_by, store_id, key_source, key_parameters,
                created_at FROM store WHERE id = 1
            """
        ) { Self($0, userVersion: userVersion) }
        guard let header else { throw TokenStoreError.damaged("\(location) has lost its header", .repair) }
        return header
    }

    /// Whether it says where the key comes from; a flipped bit may have made other words of that.
    var namesKeySource: Bool { (try? KeySource(parsing: keySource)) != nil }

    private init(_ row: Row, userVersion: Int?) {
        (schemaVersion, readerFloor, writerFloor) = (Int(row.integer(0)), Int(row.integer(1)), Int(row.integer(2)))
        (writtenBy, storeID, keySource) = (row.text(3), row.blob(4), row.text(5))
        (keyParameters, createdAt) = (Self.parameters(row.text(6)), row.integer(7))
        // A server has no number outside its tables.
        self.userVersion = userVersion ?? schemaVersion
    }

    /// - Throws: ``TokenStoreError/Code/damaged`` if the database is another program's.
    static func requireApplicationID(_ connection: Connection, at path: StorePath) throws {
        guard try connection.integer("PRAGMA application_id") == Int64(Schema.applicationID) else {
            guard try connection.integer("PRAGMA page_count") != 0 else { throw TokenStoreError.empty(path) }
            throw otherDatabase(path)
        }
    }

    static func otherDatabase(_ path: StorePath) -> TokenStoreError {
        .damaged("\(path.database) is an SQLite database but not a token store", .choosePath)
    }

    static func text(_ parameters: [String: String]) -> String {
        JSONValue.object(.init(parameters.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })).serialized
    }

    /// Parameters that cannot be read are missing ones, of which the key source then says what it lacks.
    private static func parameters(_ text: String) -> [String: String] {
        let members = (try? JSONValue(parsing: text))?.object?.members ?? []
        return Dictionary(members.compactMap { member in member.value.text.map { (member.name, $0) } }) { $1 }
    }
}

/// What a store that is being made begins with: an id, and a key from its source.
struct NewStore {
    let id: [UInt8]
    let source: KeySource
    let key: KeyEncryptionKey

    /// What the source needs to find the key again.
    let parameters: [String: String]

    /// Is told before the store can have become lasting.
    let use: KeyUse

    static func randomID() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: .min ... .max) } }

    /// Asks the source for the key, and has `body` make the store; `directory` is that of the database file, empty on a
    /// server.
    ///
    /// A key file that was made for it goes again where `body` does not come to make the store.
    static func make<Result>(
        _ source: KeySource,
        in directory: String,
        _ options: StoreOptions,
        _ body: (NewStore) throws -> Result
    ) throws -> Result {
        let id = randomID()
        return try source.create(options.keyContext(directory: directory, storeID: id, [:])) { key, parameters, use in
            try body(NewStore(id: id, source: source, key: key, parameters: parameters, use: use))
        }
    }
}

extension StoreOptions {
    /// What a key source is told of a store and of this program.
    func keyContext(directory: String, storeID: [UInt8], _ parameters: [String: String]) -> KeySourceContext {
        var context = KeySourceContext(
            directory: directory,
            storeID: storeID,
            environment: environment,
            parameters: parameters,
            askPassphrase: askPassphrase
        )
        context.namedSource = keySource
        context.scryptCost = scryptCost
        context.lockTimeout = busyTimeout
        return context
    }
}

extension Connection {
    /// Writes the header of a store that is being made, and its first data key.
    func insertHeader(of store: NewStore, _ schema: Schema, at now: Int64) throws {
        try run(
            """
            INSERT INTO store (id, store_id, schema_version, reader_floor, writer_floor, written_by, key_source,
                key_parameters, created_at)
            VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            .blob(store.id),
            .integer(schema.version),
            .integer(schema.floors.reader),
            .integer(schema.floors.writer),
            .text(TokenStore.version),
            .text(store.source.recorded.description),
            .text(StoreHeader.text(store.parameters)),
            .integer(now)
        )
        // A process that has not noticed that a store was made anew must not take its key for the one it knows; a file
        // shows that by its identity.
        let id = isServer ? DataKey.newID() : 1
        try insertDataKey(DataKey(id: id, format: schema.format), under: store.key, storeID: store.id, at: now)
    }

    /// Records that a migration has been applied; the floors rise with the version.
    func recordStep(to version: Int, _ migration: Migration) throws {
        try run(
            Self.step,
            [
                .integer(version), .text(TokenStore.version), .integer(migration.readerFloor),
                .integer(migration.writerFloor),
            ]
        )
    }

    private static let step = SQL { dialect in
        """
        UPDATE store SET schema_version = ?1, written_by = ?2,
            reader_floor = \(dialect.greater("reader_floor", "?3")),
            writer_floor = \(dialect.greater("writer_floor", "?4"))
        """
    }

    /// Writes a version and its floors to the header.
    func correctHeader(version: Int, floors: (reader: Int, writer: Int)) throws {
        try run(
            "UPDATE store SET schema_version = ?1, reader_floor = ?2, writer_floor = ?3",
            .integer(version),
            .integer(floors.reader),
            .integer(floors.writer)
        )
    }

    func headerCount() throws -> Int64 { try integer("SELECT count(*) FROM store") ?? 0 }

    /// The schema version that the header names.
    func recordedVersion() throws -> Int64? { try integer("SELECT schema_version FROM store") }
}

extension StoreConnection {
    /// Records where the key-encryption key comes from.
    func setKeySource(_ source: KeySource, _ parameters: [String: String]) throws {
        try connection.run(
            "UPDATE store SET key_source = ?1, key_parameters = ?2",
            .text(source.recorded.description),
            .text(StoreHeader.text(parameters))
        )
    }
}

// MARK: - Data keys

extension DataKey {
    /// An id at random, which none of `others` has: a process knows a key by its id, and may know that of one that is
    /// gone since, as where older rows were put back.
    static func newID(besides others: [UInt32] = []) -> UInt32 {
        while true {
            let id = UInt32.random(in: 1 << 16..<1 << 31)
            if !others.contains(id) { return id }
        }
    }
}

/// A data key as the store holds it.
struct WrappedDataKey: Hashable {
    let id: UInt32
    let wrapped: [UInt8]

    /// The id of the key-encryption key it is wrapped under.
    let keyID: String
    let isCurrent: Bool

    /// Whether the store was moved, so that nothing is sealed under the key any more.
    let isFrozen: Bool
}

extension Connection {
    func wrappedDataKeys() throws -> [WrappedDataKey] {
        try all("SELECT id, wrapped, key_encryption_key_id, is_current FROM data_key") { row in
            WrappedDataKey(
                id: UInt32(truncatingIfNeeded: row.integer(0)),
                wrapped: row.blob(1),
                keyID: row.text(2),
                isCurrent: [1, 2].contains(row.integer(3)),
                isFrozen: row.integer(3) == 2
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

    func dataKeyIDs() throws -> [UInt32] {
        try all("SELECT id FROM data_key") { UInt32(truncatingIfNeeded: $0.integer(0)) }
    }

    func dataKeyCount() throws -> Int64 { try integer("SELECT count(*) FROM data_key") ?? 0 }

    func currentDataKeyCount() throws -> Int64 {
        try integer("SELECT count(*) FROM data_key WHERE is_current IN (1, 2)") ?? 0
    }

    /// Makes the only data key the current one: another there is not.
    func correctCurrentDataKey() throws {
        guard try dataKeyCount() == 1, try currentDataKeyCount() == 0 else { return }
        try run("UPDATE data_key SET is_current = 1")
    }

    func currentDataKeyID() throws -> Int64? { try integer("SELECT id FROM data_key WHERE is_current = 1") }

    func wrappedDataKey(_ id: UInt32) throws -> [UInt8]? {
        try first("SELECT wrapped FROM data_key WHERE id = ?1", .integer(Int64(id))) { $0.blob(0) }
    }

    func currentWrappedDataKey() throws -> [UInt8]? {
        try first("SELECT wrapped FROM data_key WHERE is_current = 1") { $0.blob(0) }
    }

    /// The keys that the data keys are wrapped under; there are two rows while a rekey is under way.
    func keyEncryptionKeyIDs() throws -> [(id: String, isCurrent: Bool)] {
        try all("SELECT key_encryption_key_id, is_current FROM data_key") { ($0.text(0), $0.bool(1)) }
    }

    func rewrapDataKey(_ id: UInt32, _ wrapped: [UInt8], under keyEncryptionKey: String) throws {
        try run(
            "UPDATE data_key SET wrapped = ?2, key_encryption_key_id = ?3 WHERE id = ?1",
            .integer(Int64(id)),
            .blob(wrapped),
            .text(keyEncryptionKey)
        )
    }

    func rewrapCurrentDataKey(_ wrapped: [UInt8]) throws {
        try run("UPDATE data_key SET wrapped = ?1 WHERE is_current = 1", .blob(wrapped))
    }

    func deleteOldDataKeys() throws { try run("DELETE FROM data_key WHERE is_current = 0") }

    func deleteDataKeys() throws { try run("DELETE FROM data_key") }
}
