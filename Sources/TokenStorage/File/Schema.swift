import CMigrations
import OAuth
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
    /// - Throws: ``TokenStoreError/Code/newerStore`` if its floors shut this program out,
    ///   ``TokenStoreError/Code/damaged`` if the file does not agree with itself on its version.
    func pending(_ file: StoreHeader, forWriting: Bool) throws -> ArraySlice<Migration> {
        guard file.userVersion == file.schemaVersion || file.userVersion > version else {
            throw TokenStoreError.damaged(
                "the store says that it is of schema version \(file.userVersion) and of \(file.schemaVersion)",
                .repair
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
                try connection.recordStep(to: index + 1, migration)
            }
        }
    }
}

/// One step of the database schema: a SQL file of `Migrations/`, compiled into the binary.
///
/// A step that has shipped is never edited; a change to the schema is a new file.
package struct Migration: Sendable {
    /// The file's name, without its extension.
    package let name: String

    /// The file's text.
    package let sql: String

    /// The oldest schema version whose programs may still read a store that has taken this step.
    package let readerFloor: Int

    /// The oldest schema version whose programs may still write such a store.
    package let writerFloor: Int

    /// Whether a copy of the store is kept before this step.
    package let isIrreversible: Bool

    package init(name: String, sql: String, readerFloor: Int, writerFloor: Int, isIrreversible: Bool) {
        self.name = name
        self.sql = sql
        self.readerFloor = readerFloor
        self.writerFloor = writerFloor
        self.isIrreversible = isIrreversible
    }

    /// Every step, oldest first.
    ///
    /// The version of a schema is the number of steps applied to it.
    package static let all: [Migration] = sequence(state: CInt(0)) { index in
        defer { index += 1 }
        return CMigrationAt(index)
    }.map {
        Migration(
            name: String(cString: $0.pointee.name),
            sql: String(cString: $0.pointee.sql),
            readerFloor: Int($0.pointee.reader_floor),
            writerFloor: Int($0.pointee.writer_floor),
            isIrreversible: $0.pointee.is_irreversible != 0
        )
    }
}
