import OAuth
import SQLite
import Sealing

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
    /// - Throws: ``TokenStoreError/damaged(_:)`` if the file is a database of something else.
    init(_ connection: Connection, at path: StorePath) throws {
        self = try connection.read { try Self(reading: connection, at: path) }
    }

    private init(reading connection: Connection, at path: StorePath) throws {
        try Self.requireApplicationID(connection, at: path)
        userVersion = Int(try connection.integer("PRAGMA user_version") ?? 0)
        let row = try connection.first(
            """
            SELECT schema_version, reader_floor, writer_floor, written_by, store_id, key_source, key_parameters,
                created_at FROM store WHERE id = 1
            """
        ) { row in
            (
                (Int(row.integer(0)), Int(row.integer(1)), Int(row.integer(2))),
                row.text(3), row.blob(4), row.text(5), row.text(6), row.integer(7)
            )
        }
        guard let row else {
            throw TokenStoreError.damaged(
                "\(path.database) has lost its header; run 'tokenstore check --repair' to salvage it"
            )
        }
        ((schemaVersion, readerFloor, writerFloor), writtenBy, storeID) = (row.0, row.1, row.2)
        keySource = row.3
        keyParameters = Self.parameters(row.4)
        createdAt = row.5
    }

    /// - Throws: ``TokenStoreError/damaged(_:)`` if the database is another program's.
    static func requireApplicationID(_ connection: Connection, at path: StorePath) throws {
        guard try connection.integer("PRAGMA application_id") == Int64(Schema.applicationID) else {
            throw TokenStoreError.damaged(
                "\(path.database) is an SQLite database but not a token store; name the store with --store"
            )
        }
    }

    static func text(_ parameters: [String: String]) -> String {
        JSON.object(.init(parameters.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })).serialized
    }

    /// Parameters that cannot be read are missing ones, of which the key source then says what it lacks.
    private static func parameters(_ text: String) -> [String: String] {
        let members = (try? JSON(parsing: text))?.object?.members ?? []
        return Dictionary(members.compactMap { member in member.value.text.map { (member.name, $0) } }) { $1 }
    }
}
