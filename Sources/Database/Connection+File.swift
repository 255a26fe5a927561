package import SQLite

// What only a database that is a file can do. A caller has asked before which engine there is.

extension Connection {
    /// The connection to the file.
    @inlinable package var sqlite: SQLite.Connection {
        guard case .file(let connection) = engine else { preconditionFailure("a server is asked for its file") }
        return connection
    }

    /// The number of rows the latest statement changed.
    package var changes: Int { sqlite.changes }

    package func checkpointTruncating() throws(SQLiteError) -> Bool { try sqlite.checkpointTruncating() }

    package func keepLogFiles() { sqlite.keepLogFiles() }

    package var hasMoved: Bool { sqlite.hasMoved }

    @inlinable package func dataVersion() throws -> Int64 { try sqlite.dataVersion() }

    package func integrityProblems(quick: Bool) throws -> [String] { try sqlite.integrityProblems(quick: quick) }

    package func integrityProblems(ofTable name: String) throws -> [String] {
        try sqlite.integrityProblems(ofTable: name)
    }

    package func bytes(at offset: Int64, count: Int) -> [UInt8]? { sqlite.bytes(at: offset, count: count) }

    /// Runs `body`, which may begin transactions, without looking after rows that refer to others.
    package func withoutReferences<Result>(_ body: () throws -> Result) throws -> Result {
        if isServer { try body() } else { try sqlite.withoutReferences(body) }
    }

    /// Runs `body` without overwriting what it deletes; a ``vacuum()`` has to follow.
    package func withoutOverwriting<Result>(_ body: () throws -> Result) throws -> Result {
        if isServer { try body() } else { try sqlite.withoutOverwriting(body) }
    }

    /// Runs `body` with room for so many megabytes of pages in memory; nil: as many as there are.
    package func withCache<Result>(of megabytes: Int?, _ body: () throws -> Result) throws -> Result {
        if isServer { try body() } else { try sqlite.withCache(of: megabytes, body) }
    }

    /// Writes the database anew, without the pages that nothing is in.
    package func vacuum() throws { try sqlite.vacuum() }

    /// Copies the pages of this file into another, in steps that `progress` is told of.
    package func copyPages(to copy: Connection, progress: (Int, Int) throws -> Void) throws {
        try sqlite.copyPages(to: copy.sqlite, progress: progress)
    }

    package func image() throws(SQLiteError) -> [UInt8] { try sqlite.image() }
}
