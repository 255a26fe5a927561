import CSQLite

/// A prepared statement, to be run any number of times on the connection that made it.
package final class Statement {
    @usableFromInline let handle: OpaquePointer
    private let connection: OpaquePointer

    init(_ sql: UnsafePointer<CChar>, length: CInt, on connection: OpaquePointer) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let result = sqlite3_prepare_v3(connection, sql, length, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard result == SQLITE_OK, let prepared else {
            throw SQLiteError(result, on: connection, sql: String(cString: sql))
        }
        handle = prepared
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    package var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    /// Runs the statement and ignores any rows.
    package func run(_ values: [Value]) throws {
        try bind(values)
        defer { finish() }
        while try step() {}
    }

    /// Runs the statement and calls `body` with each row until it returns false.
    @inlinable package func forEach(_ values: [Value], while body: (Row) throws -> Bool) throws {
        try bind(values)
        defer { finish() }
        let row = Row(statement: handle)
        while try step() {
            guard try body(row) else { return }
        }
    }

    /// Runs the statement and returns what `body` makes of the first row.
    @inlinable package func first<Result>(_ values: [Value], _ body: (Row) throws -> Result) throws -> Result? {
        try bind(values)
        defer { finish() }
        return try step() ? try body(Row(statement: handle)) : nil
    }

    @usableFromInline func step() throws(SQLiteError) -> Bool {
        let result = sqlite3_step(handle)
        switch result {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw SQLiteError(result, on: connection, sql: sql)
        }
    }

    @usableFromInline func finish() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    @usableFromInline func bind(_ values: [Value]) throws(SQLiteError) {
        for index in values.indices {
            let position = CInt(index + 1)
            let result =
                switch values[index] {
                case .null: sqlite3_bind_null(handle, position)
                case .integer(let value): sqlite3_bind_int64(handle, position, value)
                case .text(let value): bindText(value, at: position)
                case .blob(let value): bindBlob(value, at: position)
                }
            guard result == SQLITE_OK else {
                finish()
                throw SQLiteError(result, on: connection, sql: sql)
            }
        }
    }

    private func bindText(_ text: String, at position: CInt) -> CInt {
        var text = text
        return text.withUTF8 { bytes in
            // A null pointer would bind NULL; empty text is not NULL.
            guard let start = bytes.baseAddress else { return sqlite3_bind_text(handle, position, "", 0, nil) }
            return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                sqlite3_bind_text(handle, position, $0, CInt(bytes.count), transient)
            }
        }
    }

    private func bindBlob(_ bytes: [UInt8], at position: CInt) -> CInt {
        bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress, !buffer.isEmpty else {
                return sqlite3_bind_zeroblob(handle, position, 0)
            }
            return sqlite3_bind_blob(handle, position, start, CInt(buffer.count), transient)
        }
    }
}

/// `SQLITE_TRANSIENT`, a cast that Swift does not import: SQLite copies what is bound.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
