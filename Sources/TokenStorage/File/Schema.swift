import CMigrations
package import Database
import OAuth
import Sealing

/// The schema that a program knows, and what it may do with a file of another one.
package struct Schema: Sendable {
    package let migrations: [Migration]

    /// The version before the first step.
    private let base: Int

    package init(migrations: [Migration] = Migration.all, after base: Int = 0) {
        self.migrations = migrations
        self.base = base
    }

    /// The tables of a file.
    package static let current = Schema()

    /// The tables of a store on a server, whose steps have the numbers of the file's.
    package static let server = Schema(migrations: Migration.onServer, after: Int(C_FIRST_SERVER_VERSION) - 1)

    /// Says that a SQLite file is a token store: `tkst`.
    static let applicationID: Int32 = 0x746B_7374

    package var version: Int { base + migrations.count }

    /// The oldest versions that may read and write a file of this schema.
    var floors: (reader: Int, writer: Int) {
        (migrations.map(\.readerFloor).max() ?? 0, migrations.map(\.writerFloor).max() ?? 0)
    }

    /// What values in a store of this schema are bound to.
    var format: SealedFormat { base > 0 || migrations.contains { $0.name == "V010_binding" } ? .bound : .placed }

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
        // Every store has taken the first step before it has its name.
        guard file.userVersion > 0 else {
            throw TokenStoreError.damaged(
                "the store says that it is of schema version \(file.userVersion), which there never was",
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
        return migrations.dropFirst(max(0, file.userVersion - base))
    }

    /// The version that the step at an index of ``migrations`` makes.
    func version(ofStep index: Int) -> Int { base + index + 1 }

    /// Takes `steps`, each whole or not at all; the floors rise with the version.
    ///
    /// `taken` is told each new version.
    package func apply(
        _ steps: ArraySlice<Migration>,
        to connection: Connection,
        taken: (Int) -> Void = { _ in }
    ) throws {
        for (index, migration) in zip(steps.indices, steps) {
            try connection.write {
                try connection.execute(migration.sql)
                try connection.execute("PRAGMA user_version = \(index + 1)")
                try connection.recordStep(to: index + 1, migration)
            }
            taken(index + 1)
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

    /// Every step of a file, oldest first.
    ///
    /// The version of a schema is the number of steps applied to it.
    package static let all = steps(CMigrationAt)

    /// Every step of a server, oldest first.
    package static let onServer = steps(CServerMigrationAt)

    private static func steps(_ step: (CInt) -> UnsafePointer<CMigration>?) -> [Migration] {
        var steps: [Migration] = []
        while let found = step(CInt(steps.count)) { steps.append(Migration(found.pointee)) }
        return steps
    }

    private init(_ step: CMigration) {
        self.init(
            name: String(cString: step.name),
            sql: String(cString: step.sql),
            readerFloor: Int(step.reader_floor),
            writerFloor: Int(step.writer_floor),
            isIrreversible: step.is_irreversible != 0
        )
    }
}
