package import SQL

extension Connection {
    /// Asks without waiting for the answer, so that several questions take one round trip.
    package func ask(_ sql: StaticString, _ values: Value...) throws -> Answer { try ask(statement(sql), values) }

    /// Runs a literal statement, prepared once per connection.
    ///
    /// Inside a transaction it is not waited for, and its error is thrown by a later call.
    package func run(_ sql: StaticString, _ values: Value...) throws { try run(statement(sql), values) }

    package func run(_ sql: SQL, _ values: [Value]) throws { try run(statement(sql), values) }

    package func run(_ sql: StaticString, _ values: [Value]) throws { try run(statement(sql), values) }

    /// Runs a statement, waits for it and returns the number of rows it changed.
    package func changing(_ sql: StaticString, _ values: Value...) throws -> Int {
        try ask(statement(sql), values).count()
    }

    package func changing(_ sql: StaticString, _ values: [Value]) throws -> Int {
        try ask(statement(sql), values).count()
    }

    package func changing(_ sql: SQL, _ values: [Value]) throws -> Int { try ask(statement(sql), values).count() }

    /// Calls `body` with each row, in order.
    package func forEach(_ sql: StaticString, _ values: Value..., body: (Row) throws -> Void) throws {
        try ask(statement(sql), values).forEach(body)
    }

    package func forEach(_ sql: StaticString, _ values: [Value], body: (Row) throws -> Void) throws {
        try ask(statement(sql), values).forEach(body)
    }

    package func forEach(_ sql: SQL, _ values: [Value], body: (Row) throws -> Void) throws {
        try ask(statement(sql), values).forEach(body)
    }

    /// What `body` makes of each row, in order.
    package func all<Result>(_ sql: StaticString, _ values: Value..., body: (Row) throws -> Result) throws -> [Result] {
        try ask(statement(sql), values).all(body)
    }

    /// What `body` makes of the first row, or nil if there is none.
    package func first<Result>(
        _ sql: StaticString,
        _ values: Value...,
        body: (Row) throws -> Result
    ) throws -> Result? {
        try ask(statement(sql), values).first(body)
    }

    package func first<Result>(_ sql: StaticString, _ values: [Value], body: (Row) throws -> Result) throws -> Result? {
        try ask(statement(sql), values).first(body)
    }

    package func first<Result>(_ sql: SQL, _ values: [Value], body: (Row) throws -> Result) throws -> Result? {
        try ask(statement(sql), values).first(body)
    }

    /// The first column of the first row as an integer, or nil if the result is empty.
    package func integer(_ sql: StaticString, _ values: Value...) throws -> Int64? {
        try ask(statement(sql), values).integer()
    }

    /// A statement for SQL that is put together at run time; the server forgets it after each use.
    package func prepare(_ sql: String) -> Statement { Statement(self, Prepared(sql, isKept: false)) }

    /// Runs one or more statements that take no values, such as a migration, and waits for them.
    package func execute(_ script: String) throws {
        for text in Scanner.statements(of: script) { try run(Prepared(text, isKept: false), []) }
        try settle()
    }

    /// Calls `body` with pages of the rows, in one transaction; other statements may be run between them.
    ///
    /// The next page is asked for before `body` runs, so that it comes with the answers to the body's own questions.
    package func forEachPage(
        _ sql: StaticString,
        _ values: Value...,
        size: Int = 200,
        body: (Rows) throws -> Void
    ) throws {
        try forEachPage(statement(sql).text, values, size) {
            try body($0)
            return true
        }
    }

    package func forEachPage(
        _ sql: SQL,
        _ values: [Value],
        size: Int = 200,
        body: (Rows) throws -> Void
    ) throws {
        precondition(sql.sources == nil, "a cursor has all its columns")
        return try forEachPage(sql.postgreSQL, values, size) {
            try body($0)
            return true
        }
    }

    /// Sends the questions that wait, without waiting for their answers.
    package func flush() throws { try pipeline.flush() }

    /// Asks what the transaction will ask in a moment, so that all such questions take one round trip.
    ///
    /// The answer is the one of now: what the transaction writes meanwhile is not in it.
    package func askAhead(_ sql: SQL, _ values: [Value]) throws {
        guard transaction != nil else { return }
        let statement = statement(sql)
        let answer = try ask(statement, values)
        transaction?.ahead[Question(sql: statement.text, values: values)] = answer
    }

    /// Tells the server something for others' sake once the transaction is committed: if it fails, that matters to
    /// nobody.
    ///
    /// It is sent with the commit, as a transaction of its own, and not waited for.
    package func tellAfterCommit(_ sql: StaticString, _ values: Value...) {
        transaction?.farewell = (statement(sql), values)
    }

    // MARK: - The same for a statement of this connection

    fileprivate func ask(_ statement: Prepared, _ values: [Value]) throws -> Answer {
        if transaction?.ahead.isEmpty == false,
            let answer = transaction?.ahead.removeValue(forKey: Question(sql: statement.text, values: values))
        {
            return answer
        }
        let answer = Answer(self, sent: statement.sources.map { SentValues(values, for: $0) })
        try enqueue(statement, values, answer: answer)
        // Outside a transaction each statement is one of its own, which ends with its batch.
        if transaction == nil { try pipeline.synchronize() }
        return answer
    }

    fileprivate func run(_ statement: Prepared, _ values: [Value]) throws {
        try enqueue(statement, values)
        if transaction == nil { try settle() }
    }

    fileprivate func forEachPage(
        _ sql: String,
        _ values: [Value],
        _ size: Int,
        _ body: (Rows) throws -> Bool
    ) throws {
        guard isInTransaction else { return try read { try forEachPage(sql, values, size, body) } }
        lastCursor += 1
        // Who reads the pages may take its time, for example a person with a pager.
        try run(statement("SET LOCAL idle_in_transaction_session_timeout = '1h'"), [])
        let cursor = "c\(lastCursor)"
        let fetch = Prepared("FETCH FORWARD \(size) FROM \(cursor)", isKept: false)
        try run(Prepared("DECLARE \(cursor) NO SCROLL CURSOR FOR \(sql)", isKept: false), values)
        var next = try ask(fetch, [])
        while case let page = try next.rows(), page.count > 0 {
            let isLast = page.count < size
            if !isLast { next = try ask(fetch, []) }
            guard try body(page), !isLast else { break }
        }
        try run(Prepared("CLOSE \(cursor)", isKept: false), [])
    }
}

/// A statement that was put together at run time.
package struct Statement {
    private let connection: Connection
    private let statement: Prepared

    init(_ connection: Connection, _ statement: Prepared) {
        self.connection = connection
        self.statement = statement
    }

    /// Runs the statement and ignores any rows.
    package func run(_ values: [Value]) throws { try connection.run(statement, values) }

    package func ask(_ values: [Value]) throws -> Answer { try connection.ask(statement, values) }

    /// Runs the statement and calls `body` with each row until it returns false.
    package func forEach(_ values: [Value], while body: (Row) throws -> Bool) throws {
        let rows = try ask(values).rows()
        for index in 0..<rows.count {
            guard try body(rows[index]) else { return }
        }
    }

    /// Calls `body` with pages of the rows, in one transaction, until it returns false; other statements may be run
    /// between them.
    package func forEachPage(_ values: [Value], size: Int = 200, while body: (Rows) throws -> Bool) throws {
        try connection.forEachPage(statement.text, values, size, body)
    }

    /// Runs the statement and returns what `body` makes of the first row.
    package func first<Result>(_ values: [Value], _ body: (Row) throws -> Result) throws -> Result? {
        try ask(values).first(body)
    }
}
