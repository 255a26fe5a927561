import CPostgreSQL
import SQL

/// An open connection to a PostgreSQL server, always in pipeline mode.
///
/// A statement that returns nothing is not waited for inside a transaction; a question and a commit are. An error
/// belongs to the statement it names, ends the transaction, and is thrown by the next call that waits.
///
/// A connection is deliberately not `Sendable`: one thread at a time uses it. Its calls block their thread.
package final class Connection {
    let pipeline: Pipeline
    package let address: ServerAddress
    package let options: Options
    /// Swift's check for overlapping access is off, as for what the pipeline changes: each question would pay for it
    /// several times, and one thread at a time has a connection.
    @exclusivity(unchecked) var transaction: Transaction?
    var lastCursor = 0
    /// By the address of a literal, or of the object of a text that was put together; both stay where they are.
    @exclusivity(unchecked) private var statements: [UnsafeRawPointer: Prepared] = [:]
    /// By the statements that each is put together of.
    var gatherings: [[ObjectIdentifier]: Prepared] = [:]

    /// Whether the program has looked at the server behind the connection.
    @exclusivity(unchecked) package var isVetted = false

    /// The timeline of the server, which begins anew with each promotion of a standby; 0: it tells none.
    @exclusivity(unchecked) package var timeline: Int64 = 0

    /// How the database writes texts, by the server's name for it.
    @exclusivity(unchecked) package var encoding = "UTF8"

    /// What the server knows the session by; nil where the program has not asked.
    package var session: Session?

    package struct Session {
        /// The server's process.
        package let process: Int64

        /// When it began, in microseconds since 1970 by the server's clock.
        package let start: Int64

        package init(process: Int64, start: Int64) { (self.process, self.start) = (process, start) }
    }

    private(set) var settings: Prepared

    /// Whether the database may spread rows over machines, as Citus does.
    package private(set) var spreadsRows = false

    package struct Options: Sendable {
        /// How long all hosts of an address together may take to accept.
        package var connectLimit = Duration.seconds(3_600)
        /// How long an answer may take; then the connection is dropped.
        package var patience = Duration.seconds(10)
        /// How long a statement waits for another session's lock.
        package var lockPatience = Duration.seconds(5)
        package var applicationName = "tokenstore"
        /// Looks at a server as soon as it has accepted; of one that it throws an error of, the next host is tried.
        package var judge: (@Sendable (Connection) throws(PostgreSQLError) -> Void)?

        package init() {}
    }

    /// A transaction that is open.
    struct Transaction {
        var statementCount = 0
        /// Why nothing but its end is possible.
        var failure: PostgreSQLError?
        /// What was asked ahead, until the question is asked.
        var ahead: [Question: Answer] = [:]
        /// What follows the commit.
        var farewell: (statement: Prepared, values: [Value])?
        /// The rows that wait for others to be sent with; nil where each statement is sent by itself.
        var gathered: [Insertion]?
    }

    /// A statement that adds rows, with its values.
    struct Insertion {
        let statement: Prepared
        let values: [Value]
    }

    /// A statement with its values.
    struct Question: Hashable {
        let sql: String
        let values: [Value]
    }

    /// Connects to the first host of the address that accepts.
    ///
    /// Names of hosts are looked up by the system, which takes its own time for that.
    @available(*, noasync, message: "connecting blocks its thread")
    package convenience init(to address: ServerAddress, options: Options = Options()) throws(PostgreSQLError) {
        try self.init(to: address, options: options, library: try Library.load())
    }

    @available(*, noasync, message: "connecting blocks its thread")
    package init(
        to address: ServerAddress,
        options: Options = Options(),
        library: Library
    ) throws(PostgreSQLError) {
        self.address = address
        self.options = options
        settings = Prepared(SessionSettings(address, options).ofTransaction, isKept: false)
        pipeline = try Connector(address: address, options: options, library: library).connect { _ in true }
    }

    private init(_ pipeline: Pipeline, to address: ServerAddress, options: Options) {
        (self.pipeline, self.address, self.options) = (pipeline, address, options)
        settings = Prepared(SessionSettings(address, options).ofTransaction, isKept: false)
    }

    /// Connects to the first host of the address that accepts and that `options.judge` has nothing against.
    @available(*, noasync, message: "connecting blocks its thread")
    package static func judged(to address: ServerAddress, options: Options) throws(PostgreSQLError) -> Connection {
        guard let judge = options.judge else { return try Connection(to: address, options: options) }
        var found: Connection?
        let connector = Connector(address: address, options: options, library: try Library.load())
        let pipeline = try connector.connect { pipeline throws(PostgreSQLError) in
            let connection = Connection(pipeline, to: address, options: options)
            try judge(connection)
            found = connection
            return connection.isVetted
        }
        return found ?? Connection(pipeline, to: address, options: options)
    }

    /// Closes the connection; a transaction that is open does not happen.
    package func close() { pipeline.close() }

    /// Whether the connection can be used, as far as is known without asking the server.
    package var isAlive: Bool { pipeline.isAlive() }

    /// Whether another thread may use the connection: it is open, and in no transaction.
    var isReusable: Bool { transaction == nil && pipeline.isReusable }

    /// Why the connection is gone; nil as long as it is not.
    package var loss: PostgreSQLError? { pipeline.loss }

    /// The process of the server that serves this connection.
    package var serverProcess: Int32 {
        pipeline.handle.map { pipeline.library.call.pointee.PQbackendPID($0) } ?? 0
    }

    /// How often answers of the server were waited for.
    package var roundTrips: Int { pipeline.roundTrips }

    package var isEncrypted: Bool {
        pipeline.handle.map { pipeline.library.call.pointee.PQsslInUse($0) == 1 } ?? false
    }

    /// Lets the server plan a statement for its values, as is needed where they say on which machine rows are.
    package func spreadRows() throws {
        spreadsRows = true
        settings = Prepared(SessionSettings(address, options, plansForValues: true).ofTransaction, isKept: false)
        // Behind a pooler each transaction begins with the settings.
        if address.pooler == .none { try run("SET plan_cache_mode = 'auto'") }
    }

    /// How long an answer may take.
    package var patience: Duration {
        get { pipeline.patience }
        set { pipeline.patience = newValue }
    }

    // MARK: - Statements

    /// The statement of a literal, prepared once per connection.
    func statement(_ sql: StaticString) -> Prepared {
        statement(at: UnsafeRawPointer(sql.utf8Start)) { sql.description }
    }

    /// The statement of a text that was put together once, prepared once per connection.
    func statement(_ sql: SQL) -> Prepared {
        statement(at: UnsafeRawPointer(Unmanaged.passUnretained(sql).toOpaque()), sql.sources) { sql.postgreSQL }
    }

    private func statement(
        at place: UnsafeRawPointer,
        _ sources: ColumnSources? = nil,
        text: () -> String
    ) -> Prepared {
        if let known = statements[place] { return known }
        // Behind a pooler the next transaction has another session, which knows no names of this one.
        let statement = Prepared(text(), isKept: address.pooler == .none, sources: sources)
        statements[place] = statement
        return statement
    }

    /// Puts a statement behind those that wait.
    func enqueue(_ statement: Prepared, _ values: [Value], answer: Answer? = nil) throws {
        if transaction != nil { return try enqueueInTransaction(statement, values, answer) }
        guard address.pooler == .transaction else {
            return try pipeline.send(statement, values, role: .commit, number: 1, answer: answer)
        }
        try begin(self.statement(beginning))
        defer { transaction = nil }
        try pipeline.send(statement, values, role: .statement, number: 1, answer: answer)
        try pipeline.send(self.statement("COMMIT"), [], role: .commit, number: nil, answer: nil)
    }

    private func enqueueInTransaction(_ statement: Prepared, _ values: [Value], _ answer: Answer?) throws {
        if let failure = transaction?.failure { throw failure }
        if try answer == nil && gather(statement, values) { return }
        try sendGathered()
        try send(statement, values, answer)
    }

    /// Puts a statement of the transaction behind those that wait.
    func send(_ statement: Prepared, _ values: [Value], _ answer: Answer?) throws {
        let number = (transaction?.statementCount ?? 0) + 1
        transaction?.statementCount = number
        do {
            try pipeline.send(statement, values, role: .statement, number: number, answer: answer)
        } catch {
            throw noted(error)
        }
    }

    /// Sends what waits and reads every answer, or those up to `answer`.
    func settle(for answer: Answer? = nil) throws {
        do throws(PostgreSQLError) {
            try pipeline.settle(for: answer)
        } catch {
            throw noted(error)
        }
    }

    /// Remembers that an error has ended the transaction.
    private func noted(_ error: any Error) -> any Error {
        if let transaction {
            if transaction.failure == nil { self.transaction?.failure = error as? PostgreSQLError }
        } else if pipeline.handle != nil, !pipeline.isIdle {
            // A statement behind a pooler has its own transaction, which the server left open.
            rollBack()
        }
        return error
    }
}
