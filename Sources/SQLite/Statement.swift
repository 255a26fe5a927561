import CSQLite
package import SQL

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
        try withBound(values) { while try step() {} }
    }

    /// Runs the statement and calls `body` with each row until it returns false.
    @inlinable
    package func forEach(_ values: [Value], while body: (Row) throws -> Bool) throws {
        try withBound(values) {
            let row = Row(statement: handle)
            while try step() {
                guard try body(row) else { return try stop() }
            }
        }
    }

    /// Runs the statement and calls `body` with each row.
    @inlinable
    package func forEachRow(_ values: [Value], _ body: (Row) throws -> Void) throws {
        try withBound(values) {
            let row = Row(statement: handle)
            while try step() { try body(row) }
        }
    }

    /// Runs the statement and returns what `body` makes of each row.
    @inlinable
    package func all<Result>(_ values: [Value], _ body: (Row) throws -> Result) throws -> [Result] {
        var results: [Result] = []
        try forEachRow(values) { results.append(try body($0)) }
        return results
    }

    /// Runs the statement and returns what `body` makes of the first row.
    @inlinable
    package func first<Result>(_ values: [Value], _ body: (Row) throws -> Result) throws -> Result? {
        try withBound(values) {
            guard try step() else { return nil }
            let result = try body(Row(statement: handle))
            try stop()
            return result
        }
    }

    /// Ends a statement before its last row; one that writes may commit, and fail, only now.
    @usableFromInline
    func stop() throws(SQLiteError) {
        let result = sqlite3_reset(handle)
        guard result == SQLITE_OK else { throw SQLiteError(result, on: connection, sql: sql) }
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

    /// Runs `body` with `values` bound, and unbinds them.
    ///
    /// SQLite reads texts and blobs where one copy of them all lies; a copy of each would cost a fifth of a lookup.
    @inlinable
    func withBound<Result>(_ values: [Value], _ body: () throws -> Result) throws -> Result {
        let byteCount = values.byteCount
        return try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { bytes in
            defer { finish() }
            try bind(values, in: bytes)
            return try body()
        }
    }

    @usableFromInline
    func bind(_ values: [Value], in bytes: UnsafeMutableRawBufferPointer) throws(SQLiteError) {
        var used = 0
        for index in values.indices {
            let value = values[index]
            let position = CInt(index + 1)
            let place = UnsafeMutableRawBufferPointer(rebasing: bytes[used...])
            let count = value.write(to: place)
            used += count
            let result =
                switch value {
                case .null: sqlite3_bind_null(handle, position)
                case .integer(let value): sqlite3_bind_int64(handle, position, value)
                case .text: bindText(UnsafeRawBufferPointer(rebasing: place[..<count]), at: position)
                case .blob: bindBlob(UnsafeRawBufferPointer(rebasing: place[..<count]), at: position)
                }
            guard result == SQLITE_OK else { throw SQLiteError(result, on: connection, sql: sql) }
        }
    }

    private func bindText(_ bytes: UnsafeRawBufferPointer, at position: CInt) -> CInt {
        // A null pointer would bind NULL; empty text is not NULL.
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return sqlite3_bind_text(handle, position, "", 0, nil)
        }
        return sqlite3_bind_text(handle, position, start.assumingMemoryBound(to: CChar.self), CInt(bytes.count), nil)
    }

    private func bindBlob(_ bytes: UnsafeRawBufferPointer, at position: CInt) -> CInt {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, position, 0) }
        return sqlite3_bind_blob(handle, position, start, CInt(bytes.count), nil)
    }
}
