import Foundation
import SQLite
public import TokenStorage

/// A store that an earlier version of the program left, with two accounts and what belongs to them.
public struct OldStore {
    public let directory: TemporaryDirectory
    public var path: StorePath { StorePath(directory.file("tokenstore.db")) }

    /// Makes the files of a store of a schema version from 4, the first that shipped, to 7.
    public init(version: Int) throws {
        directory = try TemporaryDirectory()
        try Self.write(Data(1...32), to: directory.file("key"))
        try Self.write(Data(), to: directory.file("tokenstore.db"))
        let connection = try Connection(
            path: directory.file("tokenstore.db"),
            mode: .readWrite,
            busyTimeout: .seconds(5)
        )
        let rows = Repository.root.appending(path: "Tests/Fixtures/store-v7.sql")
        for migration in Migration.all.prefix(7) { try connection.execute(migration.sql) }
        try connection.execute(String(contentsOf: rows, encoding: .utf8))
        if version < 7 { try connection.execute("ALTER TABLE access_token DROP COLUMN asked_fold") }
        if version < 5 {
            try connection.execute("DROP TABLE refresh_attempt; DROP TABLE throttle; DROP TABLE issuer_document")
        }
        try connection.execute(
            """
            UPDATE store SET schema_version = \(version), reader_floor = 4, writer_floor = 4;
            PRAGMA user_version = \(version);
            PRAGMA application_id = 1953198964;
            PRAGMA journal_mode = WAL;
            """
        )
    }

    private static func write(_ data: Data, to name: String) throws {
        guard FileManager.default.createFile(atPath: name, contents: data, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }
}
