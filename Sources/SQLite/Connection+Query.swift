import CSQLite
package import SQL

extension Connection {
    /// Runs a literal statement, prepared once per connection, and returns the number of rows it changed.
    @discardableResult
    package func run(_ sql: StaticString, _ values: Value...) throws -> Int {
        try statement(sql).run(values)
        return changes
    }

    /// Calls `body` with each row, in order.
    @inlinable package func forEach(_ sql: StaticString, _ values: Value..., body: (Row) throws -> Void) throws {
        try statement(sql).forEachRow(values, body)
    }

    /// What `body` makes of each row, in order.
    @inlinable package func all<Result>(_ sql: StaticString, _ values: Value..., body: (Row) throws -> Result) throws
        -> [Result]
    {
        try statement(sql).all(values, body)
    }

    /// What `body` makes of the first row, or nil if there is none.
    @inlinable package func first<Result>(
        _ sql: StaticString,
        _ values: Value...,
        body: (Row) throws -> Result
    ) throws -> Result? {
        try statement(sql).first(values, body)
    }

    /// The first column of the first row as an integer, or nil if the result is empty.
    @inlinable package func integer(_ sql: StaticString, _ values: Value...) throws -> Int64? {
        try statement(sql).first(values) { $0.integer(0) }
    }
}

// MARK: - Statements that were put together

extension Connection {
    @inlinable package func all<Result>(_ sql: SQL, _ values: Value..., body: (Row) throws -> Result) throws -> [Result]
    {
        try statement(sql).all(values, body)
    }
}

extension Connection {
    /// Runs `body` in a write transaction: all of it happens, or none of it.
    ///
    /// The write lock is taken at once (`BEGIN IMMEDIATE`), so that waiting for it never happens half-way through.
    @inlinable package func write<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction(begin: "BEGIN IMMEDIATE", body)
    }

    /// Runs `body` in a read transaction: all it reads is from one moment, and the lock is taken once.
    @inlinable package func read<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction(begin: "BEGIN", body)
    }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    @inlinable func transaction<Result>(begin: StaticString, _ body: () throws -> Result) throws -> Result {
        // A transaction inside another is part of it.
        if isInTransaction { return try body() }
        try run(begin)
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // The first error is the one to report.
            rollBack()
            throw error
        }
    }

    @usableFromInline func rollBack() {
        // SQLite may have rolled back by itself (disk full, I/O error).
        if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }
}
