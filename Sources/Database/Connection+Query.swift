package import PostgreSQL
package import SQL
package import SQLite

extension Connection {
    /// Runs a literal statement, prepared once per connection.
    ///
    /// In a transaction on a server it is not waited for, and its error is thrown by a later call.
    @inlinable package func run(_ sql: StaticString, _ values: Value...) throws {
        switch engine {
        case .file(let connection): try connection.statement(sql).run(values)
        case .server(let connection): try connection.run(sql, values)
        }
    }

    /// Runs a statement that was put together once.
    @inlinable package func run(_ sql: SQL, _ values: [Value]) throws {
        switch engine {
        case .file(let connection): try connection.statement(sql).run(values)
        case .server(let connection): try connection.run(sql, values)
        }
    }

    /// Runs a literal statement and returns the number of rows it changed.
    @inlinable package func changing(_ sql: StaticString, _ values: Value...) throws -> Int {
        switch engine {
        case .file(let connection):
            try connection.statement(sql).run(values)
            return connection.changes
        case .server(let connection): return try connection.changing(sql, values)
        }
    }

    @inlinable package func changing(_ sql: SQL, _ values: [Value]) throws -> Int {
        switch engine {
        case .file(let connection):
            try connection.statement(sql).run(values)
            return connection.changes
        case .server(let connection): return try connection.changing(sql, values)
        }
    }

    /// Calls `body` with each row, in order.
    @inlinable package func forEach(_ sql: StaticString, _ values: Value..., body: (Row) throws -> Void) throws {
        switch engine {
        case .file(let connection): try connection.statement(sql).forEachRow(values) { try body(.file($0)) }
        case .server(let connection): try connection.forEach(sql, values) { try body(.server($0)) }
        }
    }

    @inlinable package func forEach(_ sql: SQL, _ values: Value..., body: (Row) throws -> Void) throws {
        try forEach(sql, values, body: body)
    }

    @inlinable package func forEach(_ sql: SQL, _ values: [Value], body: (Row) throws -> Void) throws {
        switch engine {
        case .file(let connection): try connection.statement(sql).forEachRow(values) { try body(.file($0)) }
        case .server(let connection): try connection.forEach(sql, values) { try body(.server($0)) }
        }
    }

    /// Calls `body` with each row of a whole table, in order; memory does not grow with the table.
    ///
    /// A file gives the rows as they are wanted, a server some hundred at a time. Other statements may be run
    /// meanwhile.
    package func walk(_ sql: SQL, _ values: Value..., body: (Row) throws -> Void) throws {
        switch engine {
        case .file(let connection): try connection.statement(sql).forEachRow(values) { try body(.file($0)) }
        case .server(let connection):
            func visit(_ row: PostgreSQL.Row) throws { try body(.server(row)) }
            try connection.forEachPage(sql, values) { try $0.forEach(visit) }
        }
    }

    /// What `body` makes of each row, in order.
    @inlinable package func all<Result>(
        _ sql: StaticString,
        _ values: Value...,
        body: (Row) throws -> Result
    ) throws -> [Result] {
        var results: [Result] = []
        switch engine {
        case .file(let connection):
            try connection.statement(sql).forEachRow(values) { results.append(try body(.file($0))) }
        case .server(let connection): try connection.forEach(sql, values) { results.append(try body(.server($0))) }
        }
        return results
    }

    @inlinable package func all<Result>(
        _ sql: SQL,
        _ values: Value...,
        body: (Row) throws -> Result
    ) throws -> [Result] {
        try all(sql, values, body: body)
    }

    @inlinable package func all<Result>(
        _ sql: SQL,
        _ values: [Value],
        body: (Row) throws -> Result
    ) throws -> [Result] {
        var results: [Result] = []
        try forEach(sql, values) { results.append(try body($0)) }
        return results
    }

    /// What `body` makes of the first row, or nil if there is none.
    @inlinable package func first<Result>(
        _ sql: StaticString,
        _ values: Value...,
        body: (Row) throws -> Result
    ) throws -> Result? {
        switch engine {
        case .file(let connection): try connection.statement(sql).first(values) { try body(.file($0)) }
        case .server(let connection): try connection.first(sql, values) { try body(.server($0)) }
        }
    }

    @inlinable package func first<Result>(
        _ sql: SQL,
        _ values: Value...,
        body: (Row) throws -> Result
    ) throws -> Result? {
        try first(sql, values, body: body)
    }

    @inlinable package func first<Result>(
        _ sql: SQL,
        _ values: [Value],
        body: (Row) throws -> Result
    ) throws -> Result? {
        switch engine {
        case .file(let connection): try connection.statement(sql).first(values) { try body(.file($0)) }
        case .server(let connection): try connection.first(sql, values) { try body(.server($0)) }
        }
    }

    /// The first column of the first row as an integer, or nil if the result is empty.
    @inlinable package func integer(_ sql: StaticString, _ values: Value...) throws -> Int64? {
        switch engine {
        case .file(let connection): try connection.statement(sql).first(values) { $0.integer(0) }
        case .server(let connection): try connection.first(sql, values) { $0.integer(0) }
        }
    }

    @inlinable package func integer(_ sql: SQL, _ values: Value...) throws -> Int64? {
        try first(sql, values) { $0.integer(0) }
    }

    @inlinable package func integer(_ sql: SQL, _ values: [Value]) throws -> Int64? {
        try first(sql, values) { $0.integer(0) }
    }

    /// Asks a server what the transaction will ask in a moment, so that all such questions take one round trip.
    ///
    /// The answer is the one of now: what the transaction writes meanwhile is not in it.
    @inlinable package func askAhead(_ sql: SQL, _ values: Value...) throws {
        if case .server(let connection) = engine { try connection.askAhead(sql, values) }
    }

    @inlinable package func askAhead(_ sql: SQL, _ values: [Value]) throws {
        if case .server(let connection) = engine { try connection.askAhead(sql, values) }
    }

    /// Runs `body` in a write transaction: all of it happens, or none of it.
    ///
    /// A file has one writer at a time; on a server each statement sees what was committed before it.
    @inlinable package func write<Result>(_ body: () throws -> Result) throws -> Result {
        switch engine {
        case .file(let connection): try connection.write(body)
        case .server(let connection): try connection.write(body)
        }
    }

    /// Runs `body` in a read transaction: all it reads is from one moment.
    @inlinable package func read<Result>(_ body: () throws -> Result) throws -> Result {
        switch engine {
        case .file(let connection): try connection.read(body)
        case .server(let connection): try connection.read(body)
        }
    }
}

/// A statement that was put together at run time.
package enum Statement {
    case file(SQLite.Statement)
    case server(PostgreSQL.Statement)

    /// Runs the statement and ignores any rows.
    package func run(_ values: [Value]) throws {
        switch self {
        case .file(let statement): try statement.run(values)
        case .server(let statement): try statement.run(values)
        }
    }

    /// Runs the statement and calls `body` with each row until it returns false.
    @inlinable package func forEach(_ values: [Value], while body: (Row) throws -> Bool) throws {
        switch self {
        case .file(let statement): try statement.forEach(values) { try body(.file($0)) }
        case .server(let statement): try statement.forEach(values) { try body(.server($0)) }
        }
    }

    /// Runs the statement and calls `body` with each row.
    @inlinable package func forEachRow(_ values: [Value], _ body: (Row) throws -> Void) throws {
        switch self {
        case .file(let statement): try statement.forEachRow(values) { try body(.file($0)) }
        case .server(let statement):
            try statement.forEach(values) {
                try body(.server($0))
                return true
            }
        }
    }

    /// Runs the statement and returns what `body` makes of each row.
    package func all<Result>(_ values: [Value], _ body: (Row) throws -> Result) throws -> [Result] {
        var results: [Result] = []
        try forEachRow(values) { results.append(try body($0)) }
        return results
    }

    /// Calls `body` with the first columns of the rows, some hundred numbers at a time, until it returns false.
    ///
    /// A file gives them one at a time, as they are wanted.
    package func forEachPage(ofNumbers values: [Value], while body: ([Int64]) throws -> Bool) throws {
        switch self {
        case .file(let statement): try statement.forEach(values) { try body([$0.integer(0)]) }
        case .server(let statement):
            try statement.forEachPage(values) { rows in try body(rows.all { $0.integer(0) }) }
        }
    }

    /// Runs the statement and returns what `body` makes of the first row.
    @inlinable package func first<Result>(_ values: [Value], _ body: (Row) throws -> Result) throws -> Result? {
        switch self {
        case .file(let statement): try statement.first(values) { try body(.file($0)) }
        case .server(let statement): try statement.first(values) { try body(.server($0)) }
        }
    }
}
