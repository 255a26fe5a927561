import CMigrations

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
