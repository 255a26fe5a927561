import SQL

extension Connection {
    /// Begins a transaction that writes: what the database or the role has for a standard is not what counts.
    ///
    /// A session of its own has the level from its start: at the end of a transaction that was given one, a server looks
    /// through all of its settings.
    var beginning: StaticString { address.pooler == .none ? "BEGIN" : "BEGIN ISOLATION LEVEL READ COMMITTED" }

    /// Runs `body` in a write transaction: all of it happens, or none of it.
    ///
    /// Each statement sees what was committed before it (READ COMMITTED); rows are locked by the statements themselves.
    package func write<Result>(_ body: () throws -> Result) throws -> Result {
        if isInTransaction { return try body() }
        return try transaction(statement(beginning), body) {
            let answer = Answer(self)
            try pipeline.send(statement("COMMIT"), [], role: .commit, number: nil, answer: answer)
            if let (statement, values) = transaction?.farewell {
                try pipeline.synchronize()
                try pipeline.send(statement, values, role: .hint, number: nil, answer: nil)
            }
            try settle(for: answer)
            let command = try answer.rows().command
            guard command == "COMMIT" else {
                throw PostgreSQLError(.failedTransaction, "the server answered a commit with \(command)")
            }
        }
    }

    /// Runs `body` in a read transaction: all it reads is from one moment.
    ///
    /// Its end is sent and not waited for.
    package func read<Result>(_ body: () throws -> Result) throws -> Result {
        if isInTransaction { return try body() }
        return try transaction(statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), body) {
            try pipeline.send(statement("COMMIT"), [], role: .statement, number: nil, answer: nil)
            try pipeline.flush()
        }
    }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { transaction != nil }

    /// Begins a transaction, without waiting for the server.
    func begin(_ statement: Prepared) throws {
        try pipeline.send(statement, [], role: .statement, number: nil, answer: nil)
        if address.pooler == .transaction {
            try pipeline.send(settings, [], role: .statement, number: nil, answer: nil)
        }
        transaction = Transaction()
    }

    private func transaction<Result>(
        _ beginning: Prepared,
        _ body: () throws -> Result,
        end: () throws -> Void
    ) throws -> Result {
        do {
            try begin(beginning)
            let result = try body()
            // An error that the body kept to itself has ended the transaction all the same.
            if let failure = transaction?.failure { throw failure }
            try sendGathered()
            try end()
            transaction = nil
            return result
        } catch {
            // The first error is the one to report.
            rollBack()
            throw error
        }
    }

    /// Ends the transaction without its effects; a connection that cannot do that is dropped.
    func rollBack() {
        transaction = nil
        // Failures of the statements that are undone no longer matter.
        pipeline.settleIgnoringFailures()
        do {
            try pipeline.send(statement("ROLLBACK"), [], role: .statement, number: nil, answer: nil)
            try pipeline.settle()
        } catch {
            pipeline.close()
        }
    }
}

// MARK: - Rows that are sent together

extension Connection {
    /// Has the rows that the transaction adds from now on sent several at a time, as one statement: to begin one costs a
    /// server as much as a row.
    ///
    /// They are sent before any other statement and at the end of the transaction. They may refer to each other, as
    /// references are checked at the end of a statement; none may read what another adds.
    package func gatherInsertions() {
        if transaction?.gathered == nil { transaction?.gathered = [] }
    }

    /// So many at a time: the server begins with the first while the others are made.
    private static let gatheringSize = 4

    /// So many statements that are put together of others does a connection have at most.
    private static let gatheringLimit = 64

    /// Keeps a statement that adds rows, for others to be sent with; false where it is to be sent by itself.
    func gather(_ statement: Prepared, _ values: [Value]) throws -> Bool {
        guard transaction?.gathered != nil, statement.isPlainInsertion else { return false }
        transaction?.gathered?.append(Insertion(statement: statement, values: values))
        if transaction?.gathered?.count == Self.gatheringSize { try sendGathered() }
        return true
    }

    /// Sends what was gathered.
    func sendGathered() throws {
        guard let insertions = transaction?.gathered, !insertions.isEmpty else { return }
        transaction?.gathered = []
        if let together = statement(of: insertions) {
            try send(together, insertions.flatMap(\.values), nil)
        } else {
            for insertion in insertions { try send(insertion.statement, insertion.values, nil) }
        }
        try pipeline.push()
    }

    /// One statement that does what several do, prepared once per connection; nil where that would be one too many.
    private func statement(of insertions: [Insertion]) -> Prepared? {
        guard insertions.count > 1 else { return nil }
        let key = insertions.map { ObjectIdentifier($0.statement) }
        if let known = gatherings[key] { return known }
        guard gatherings.count < Self.gatheringLimit else { return nil }
        var (texts, offset): ([String], Int) = ([], 0)
        for insertion in insertions {
            texts.append(Scanner.numbered(insertion.statement.text, after: offset))
            offset += insertion.values.count
        }
        // PostgreSQL promises no order, but begins with what is outside of WITH and goes on with the rest from its end. So
        // rows are added, and locked, in the order of those who add them one by one, and no two wait for each other.
        let others = texts.dropFirst().enumerated().reversed().map { "i\($0) AS (\($1))" }.joined(separator: ", ")
        let statement = Prepared("WITH \(others) \(texts[0])", isKept: true)
        gatherings[key] = statement
        return statement
    }
}
