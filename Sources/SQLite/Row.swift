import CSQLite
package import SQL

/// The row a statement stands on; valid only inside the closure that received it.
package struct Row {
    @usableFromInline let statement: OpaquePointer

    @usableFromInline init(statement: OpaquePointer) { self.statement = statement }

    package func isNull(_ column: CInt) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    package func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(statement, column) }

    package func optionalInteger(_ column: CInt) -> Int64? { isNull(column) ? nil : integer(column) }

    package func bool(_ column: CInt) -> Bool { integer(column) != 0 }

    /// The text of a column; `NULL` reads as empty.
    package func text(_ column: CInt) -> String { optionalText(column) ?? "" }

    package func optionalText(_ column: CInt) -> String? {
        guard let start = sqlite3_column_text(statement, column) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Whether a column is `NULL`, or a text or blob without bytes.
    package func isEmpty(_ column: CInt) -> Bool { bytes(column).isEmpty }

    /// The bytes of a column, which are the statement's: like the row they are valid only inside its closure.
    package func bytes(_ column: CInt) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    }

    /// A copy of the bytes of a column; `NULL` reads as empty.
    package func blob(_ column: CInt) -> [UInt8] { Array(bytes(column)) }

    package func optionalBlob(_ column: CInt) -> [UInt8]? { isNull(column) ? nil : blob(column) }

    /// The value of a column whatever its type; a number with a fraction, which no program of this package writes,
    /// counts for nothing.
    package func value(_ column: CInt) -> Value {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }

    package var columnCount: CInt { sqlite3_column_count(statement) }
}

extension CanonicalValues {
    /// Adds columns of a row, without making strings of them.
    package func append(_ row: Row, _ columns: Range<CInt>) {
        for column in columns {
            // Asked once for each column, not for its kind, its bytes and their number: a row has many.
            let value = sqlite3_column_value(row.statement, column)
            let type = sqlite3_value_type(value)
            switch type {
            case SQLITE_INTEGER: append(sqlite3_value_int64(value))
            case SQLITE_TEXT, SQLITE_BLOB:
                let start = sqlite3_value_blob(value)
                let count = start == nil ? 0 : Int(sqlite3_value_bytes(value))
                append(UnsafeRawBufferPointer(start: start, count: count), as: type == SQLITE_TEXT ? .text : .blob)
            case SQLITE_NULL: appendNull()
            // Where null was sealed, a number with a fraction would be read as a value.
            default: appendForeign()
            }
        }
    }
}
