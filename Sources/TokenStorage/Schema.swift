package import SQLite
import Sealing

/// The schema that a program knows, and what it may do with a file of another one.
package struct Schema: Sendable {
    package let migrations: [Migration]

    package init(migrations: [Migration] = Migration.all) { self.migrations = migrations }

    package static let current = Schema()

    /// Says that a SQLite file is a token store: `tkst`.
    static let applicationID: Int32 = 0x746B_7374

    package var version: Int { migrations.count }

    /// The oldest versions that may read and write a file of this schema.
    var floors: (reader: Int, writer: Int) {
        (migrations.map(\.readerFloor).max() ?? 0, migrations.map(\.writerFloor).max() ?? 0)
    }

    /// What values in a store of this schema are bound to.
    var format: SealedFormat { migrations.contains { $0.name == "V010_binding" } ? .bound : .placed }

    /// The steps that `file` has not taken.
    ///
    /// - Throws: ``TokenStoreError/newerStore(version:writtenBy:isReadable:)`` if its floors shut this program out,
    ///   ``TokenStoreError/damaged(_:)`` if the file does not agree with itself on its version.
    func pending(_ file: StoreHeader, forWriting: Bool) throws -> ArraySlice<Migration> {
        guard file.userVersion == file.schemaVersion || file.userVersion > version else {
            throw TokenStoreError.damaged(
                "the store says that it is of schema version \(file.userVersion) and of \(file.schemaVersion); "
                    + "run 'tokenstore check --repair' to salvage it"
            )
        }
        // Floors that were not written together with the version say nothing about it.
        let areFloorsKnown = file.schemaVersion == file.userVersion
        let isReadable = areFloorsKnown && file.readerFloor <= version
        let isWritable = areFloorsKnown && file.writerFloor <= version
        guard file.userVersion <= version || (forWriting ? isWritable && isReadable : isReadable) else {
            throw TokenStoreError.newerStore(
                version: file.userVersion,
                writtenBy: file.writtenBy,
                isReadable: isReadable
            )
        }
        return migrations.dropFirst(file.userVersion)
    }

    /// Takes `steps`, each whole or not at all; the floors rise with the version.
    package func apply(_ steps: ArraySlice<Migration>, to connection: Connection) throws {
        for (index, migration) in zip(steps.indices, steps) {
            try connection.write {
                try connection.execute(migration.sql)
                try connection.execute("PRAGMA user_version = \(index + 1)")
                try connection.run(
                    """
                    UPDATE store SET schema_version = ?1, written_by = ?2,
                        reader_floor = max(reader_floor, ?3), writer_floor = max(writer_floor, ?4)
                    """,
                    .integer(index + 1),
                    .text(TokenStore.version),
                    .integer(migration.readerFloor),
                    .integer(migration.writerFloor)
                )
            }
        }
    }
}
