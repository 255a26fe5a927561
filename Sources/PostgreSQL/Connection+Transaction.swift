extension Connection {
    /// Begins a transaction that writes: what the database or the role has for a standard is not what counts.
    static let beginning: StaticString = "BEGIN ISOLATION LEVEL READ COMMITTED"

    /// Runs `body` in a write transaction: all of it happens, or none of it.
    ///
    /// Each statement sees what was committed before it (READ COMMITTED); rows are locked by the statements themselves.
    package func write<Result>(_ body: () throws -> Result) throws -> Result {
        if isInTransaction { return try body() }
        return try transaction(statement(Self.beginning), body) {
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
