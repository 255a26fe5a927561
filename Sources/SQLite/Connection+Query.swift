extension Connection {
    /// Runs a literal statement, prepared once per connection, and returns the number of rows it changed.
    @discardableResult
    package func run(_ sql: StaticString, _ values: Value...) throws -> Int {
        try statement(sql).run(values)
        return changes
    }

    /// Calls `body` with each row, in order.
    @inlinable package func forEach(_ sql: StaticString, _ values: Value..., body: (Row) throws -> Void) throws {
        try statement(sql).forEach(values) {
            try body($0)
            return true
        }
    }

    /// What `body` makes of each row, in order.
    @inlinable package func all<Result>(_ sql: StaticString, _ values: Value..., body: (Row) throws -> Result) throws
        -> [Result]
    {
        var results: [Result] = []
        try statement(sql).forEach(values) {
            results.append(try body($0))
            return true
        }
        return results
    }

    /// What `body` makes of the first row, or nil where there is none.
    @inlinable package func first<Result>(
        _ sql: StaticString,
        _ values: Value...,
        body: (Row) throws -> Result
    ) throws -> Result? {
        try statement(sql).first(values, body)
    }

    /// The first column of the first row as an integer, or nil where there is no row.
    @inlinable package func integer(_ sql: StaticString, _ values: Value...) throws -> Int64? {
        try statement(sql).first(values) { $0.integer(0) }
    }
}

// MARK: - Statements that were put together

extension Connection {
    @discardableResult
    package func run(_ sql: SQL, _ values: [Value]) throws -> Int {
        try statement(sql).run(values)
        return changes
    }

    @inlinable package func forEach(_ sql: SQL, _ values: Value..., body: (Row) throws -> Void) throws {
        try statement(sql).forEach(values) {
            try body($0)
            return true
        }
    }

    @inlinable package func all<Result>(_ sql: SQL, _ values: Value..., body: (Row) throws -> Result) throws -> [Result]
    {
        var results: [Result] = []
        try statement(sql).forEach(values) {
            results.append(try body($0))
            return true
        }
        return results
    }

    @inlinable package func first<Result>(_ sql: SQL, _ values: Value..., body: (Row) throws -> Result) throws
        -> Result?
    {
        try statement(sql).first(values, body)
    }
}
