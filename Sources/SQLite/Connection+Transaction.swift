import CSQLite

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
