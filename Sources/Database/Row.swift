package import PostgreSQL
package import SQL
package import SQLite

/// A row of a result; valid only inside the closure that received it.
package enum Row {
    case file(SQLite.Row)
    case server(PostgreSQL.Row)

    @inlinable package func isNull(_ column: CInt) -> Bool {
        switch self {
        case .file(let row): row.isNull(column)
        case .server(let row): row.isNull(column)
        }
    }

    @inlinable package func integer(_ column: CInt) -> Int64 {
        switch self {
        case .file(let row): row.integer(column)
        case .server(let row): row.integer(column)
        }
    }

    @inlinable package func optionalInteger(_ column: CInt) -> Int64? { isNull(column) ? nil : integer(column) }

    @inlinable package func bool(_ column: CInt) -> Bool { integer(column) != 0 }

    /// The text of a column; `NULL` reads as empty.
    @inlinable package func text(_ column: CInt) -> String {
        switch self {
        case .file(let row): row.text(column)
        case .server(let row): row.text(column)
        }
    }

    @inlinable package func optionalText(_ column: CInt) -> String? {
        switch self {
        case .file(let row): row.optionalText(column)
        case .server(let row): row.optionalText(column)
        }
    }

    /// Whether a column is `NULL`, or a text or blob without bytes.
    @inlinable package func isEmpty(_ column: CInt) -> Bool { bytes(column).isEmpty }

    /// The bytes of a column, which are the result's: like the row they are valid only inside its closure.
    @inlinable package func bytes(_ column: CInt) -> UnsafeRawBufferPointer {
        switch self {
        case .file(let row): row.bytes(column)
        case .server(let row): row.bytes(column)
        }
    }

    /// A copy of the bytes of a column; `NULL` reads as empty.
    @inlinable package func blob(_ column: CInt) -> [UInt8] { Array(bytes(column)) }

    @inlinable package func optionalBlob(_ column: CInt) -> [UInt8]? { isNull(column) ? nil : blob(column) }

    /// The value of a column whatever its type.
    package func value(_ column: CInt) -> Value {
        switch self {
        case .file(let row): row.value(column)
        case .server(let row): row.value(column)
        }
    }

    package var columnCount: CInt {
        switch self {
        case .file(let row): row.columnCount
        case .server(let row): row.columnCount
        }
    }
}

extension CanonicalValues {
    /// Adds columns of a row, without making strings of them.
    package func append(_ row: Row, _ columns: Range<CInt>) {
        switch row {
        case .file(let row): append(row, columns)
        case .server(let row): append(row, columns)
        }
    }
}
