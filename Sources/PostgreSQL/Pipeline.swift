import CPostgreSQL
import SQL

/// The statements that were sent, or wait to be sent, on one connection, and the reading of their answers in order.
///
/// Nothing waits without a time limit. A connection whose answer is late is dropped and never cancelled: a cancelled
/// commit may report success for what a standby does not have.
final class Pipeline {
    let library: Library
    /// nil once the connection is gone.
    @exclusivity(unchecked) private(set) var handle: OpaquePointer?
    var patience: Duration
    /// Whether a pooler stands before the server, which may give the session to another at the end of a batch.
    private let isPooled: Bool
    private let schema: String
    /// Why the connection is gone.
    private(set) var loss: PostgreSQLError?
    @exclusivity(unchecked) private var steps: [Step] = []
    @exclusivity(unchecked) private var firstOpen = 0
    @exclusivity(unchecked) private var isSynchronized = true

    /// How many statements were put into the batch that is not ended.
    @exclusivity(unchecked) private var batch = 0
    private static let handfuls = [3, 8]
    @exclusivity(unchecked) private var failure: PostgreSQLError?
    private var lastName = 0
    private var hasReplicationWarning = false

    /// Whether the messages of channels are fetched by who listens.
    var isListening = false

    /// How often answers were waited for.
    @exclusivity(unchecked) private(set) var roundTrips = 0

    /// So many answers at most are open: what waits to be sent, and what has arrived, is in memory.
    private static let longest = 1_024

    /// What a statement means for its transaction.
    enum Role {
        case statement
        /// Ends a transaction, or is one of its own: if its answer is lost, it may have happened or not.
        case commit
        /// Is sent for other statements, and its failure is ignored.
        case hint
    }

    private struct Step {
        enum Kind {
            case parse, execute, synchronize
        }

        let kind: Kind
        var role = Role.statement
        var statement: Prepared?
        var number: Int?
        var answer: Answer?
    }

    /// Takes over a connection of libpq, which is to be in pipeline mode.
    init(_ handle: OpaquePointer, to address: ServerAddress, library: Library, patience: Duration) {
        (self.handle, self.library, self.patience) = (handle, library, patience)
        (isPooled, schema) = (address.pooler != .none, address.schema)
        let receiver: PQnoticeReceiver = { context, notice in
            guard let context, let notice else { return }
            Unmanaged<Pipeline>.fromOpaque(context).takeUnretainedValue().heed(notice)
        }
        _ = library.call.pointee.PQsetNoticeReceiver(handle, receiver, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { close() }

    /// Closes the connection; the answers that it owes fail with `error`.
    func close(failing error: PostgreSQLError = .closed) {
        guard let handle else { return }
        self.handle = nil
        for step in steps[firstOpen...] { step.answer?.fail(error) }
        steps = []
        firstOpen = 0
        isSynchronized = true
        library.call.pointee.PQfinish(handle)
    }

    /// Whether the server waits for a new transaction, with every answer read.
    var isIdle: Bool {
        guard let handle, firstOpen == steps.count else { return false }
        return library.call.pointee.PQtransactionStatus(handle) == PQTRANS_IDLE
    }

    /// Whether all that was sent ends by itself: nothing that waits belongs to a batch that is still open.
    var isReusable: Bool { handle != nil && isSynchronized && (firstOpen < steps.count || isIdle) }

    // MARK: - Sending

    /// Puts a statement behind those that wait; `number` is its number in the transaction.
    func send(_ statement: Prepared, _ values: [Value], role: Role, number: Int?, answer: Answer?) throws {
        // With half of a batch there, a pooler would send the other half to another session.
        if isPooled, isSynchronized, firstOpen < steps.count { try read() }
        if steps.count - firstOpen >= Self.longest { try settle() }
        let handle = try open()
        if statement.isKept, statement.name == nil || !statement.fits(values) {
            try prepare(statement, values, role == .hint ? .hint : .statement, number)
        }
        guard statement.send(values, on: handle, library) else { throw lose() }
        steps.append(Step(kind: .execute, role: role, statement: statement, number: number, answer: answer))
        isSynchronized = false
        batch += 1
        // The server begins with the first of a long batch while the others are made; libpq sends the rest by itself.
        if Self.handfuls.contains(batch) { try push() }
    }

    /// Has the server prepare the statement, in the same batch as its first use.
    private func prepare(_ statement: Prepared, _ values: [Value], _ role: Role, _ number: Int?) throws {
        if let old = statement.name {
            // The values have other types than those that the server was told.
            let deallocation = Prepared("DEALLOCATE \(String(cString: old.start))", isKept: false)
            try send(deallocation, [], role: role, number: number, answer: nil)
        }
        lastName += 1
        guard try statement.prepare(as: CString("t\(lastName)"), values, on: open(), library) else { throw lose() }
        steps.append(Step(kind: .parse, role: role, statement: statement, number: number))
    }

    /// Hands the server what waits of a batch that goes on.
    func push() throws(PostgreSQLError) {
        guard library.call.pointee.PQflush(try open()) >= 0 else { throw lose() }
    }

    /// Ends a batch, so that a failure of it does not reach the statements that follow.
    func synchronize() throws(PostgreSQLError) {
        guard !isSynchronized else { return }
        guard library.call.pointee.PQpipelineSync(try open()) == 1 else { throw lose() }
        steps.append(Step(kind: .synchronize))
        isSynchronized = true
        batch = 0
    }

    /// Sends what waits, without waiting for its answers.
    func flush() throws(PostgreSQLError) {
        try synchronize()
        try push()
    }

    func open() throws(PostgreSQLError) -> OpaquePointer {
        guard let handle else { throw loss ?? .closed }
        return handle
    }

    // MARK: - Reading

    /// Sends what waits and reads every open answer, or those up to `answer`; the first failure among them is thrown
    /// when they are read.
    func settle(for answer: Answer? = nil) throws(PostgreSQLError) {
        try synchronize()
        guard firstOpen < steps.count else { return }
        try read(upTo: answer)
        if let failure {
            self.failure = nil
            throw failure
        }
        if hasReplicationWarning {
            hasReplicationWarning = false
            throw PostgreSQLError(
                .notReplicated,
                "the server stopped waiting for its standby, which may not have what was committed"
            )
        }
    }

    /// Reads every open answer, whatever it says; a connection that does not give them is dropped.
    func settleIgnoringFailures() {
        do throws(PostgreSQLError) { try settle() } catch { failure = nil }
    }

    /// Reads every open answer, or those up to `answer`; the first failure among them is kept.
    private func read(upTo answer: Answer? = nil) throws(PostgreSQLError) {
        roundTrips += 1
        let deadline = ContinuousClock.now + patience
        while firstOpen < steps.count, answer?.isComplete != true { try readStep(deadline) }
        steps.removeSubrange(..<firstOpen)
        firstOpen = 0
    }

    private func readStep(_ deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
        guard let result = try nextResult(deadline) else { throw outOfStep() }
        let step = steps[firstOpen]
        let status = library.call.pointee.PQresultStatus(result)
        if step.kind == .synchronize {
            defer { library.call.pointee.PQclear(result) }
            guard status == PGRES_PIPELINE_SYNC else {
                if library.field("C", of: result) != nil { try fail(step, result) }
                throw outOfStep()
            }
            firstOpen += 1
            return
        }
        switch status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            if let answer = step.answer {
                answer.complete(Rows(result, library))
            } else {
                library.call.pointee.PQclear(result)
            }
        case PGRES_PIPELINE_ABORTED:
            library.call.pointee.PQclear(result)
            if step.kind == .parse { step.statement?.name = nil }
            if let failure { step.answer?.fail(failure) }
        default:
            defer { library.call.pointee.PQclear(result) }
            try fail(step, result)
        }
        // Each answer ends with an empty one.
        while let more = try nextResult(deadline) { library.call.pointee.PQclear(more) }
        firstOpen += 1
    }

    /// Notes what the server says against a statement; the rest of the batch is skipped by the server.
    private func fail(_ step: Step, _ result: OpaquePointer) throws(PostgreSQLError) {
        let code = library.field("C", of: result)
        let text = library.field("M", of: result)
        guard let code, let text else { throw lose() }
        // A pooler names it in the one way alone.
        let severity = library.field("V", of: result) ?? library.field("S", of: result)
        let isOpen = step.role == .commit && PostgreSQLError.leavesOpen(code)
        let isGone = severity == "FATAL" || severity == "PANIC" || isOpen
        let lost: PostgreSQLError.ConnectionState = step.role == .commit ? .lostAfterCommit : .lost
        let reference = code == "23503" ? library.reference(result, outside: schema) : nil
        let error = PostgreSQLError(
            reference == nil ? PostgreSQLError.meaning(code, text) : .referredTo,
            reference ?? PostgreSQLError.message(code, text),
            statement: step.number,
            sql: step.statement?.text,
            state: isGone ? lost : .usable
        )
        if isGone { throw drop(error) }
        // A plan that no longer fits its table, or a name that the server has forgotten.
        if step.kind == .parse || code == "0A000" || code == "26000" { step.statement?.name = nil }
        step.answer?.fail(error)
        if step.role != .hint { failure = failure ?? error }
    }

    /// The next result, nil at the end of an answer.
    private func nextResult(_ deadline: ContinuousClock.Instant) throws(PostgreSQLError) -> OpaquePointer? {
        let handle = try open()
        let call = library.call
        while call.pointee.PQisBusy(handle) == 1 {
            let flushed = call.pointee.PQflush(handle)
            guard flushed >= 0 else { throw lose() }
            let socket = call.pointee.PQsocket(handle)
            switch Socket.wait(socket, forWriting: flushed == 1, until: deadline) {
            case .ready: break
            case .late: throw tooLate()
            case .failed: throw lose()
            }
            // What arrived before the end of the connection is still to be read.
            if call.pointee.PQconsumeInput(handle) != 1, call.pointee.PQisBusy(handle) == 1 { throw lose() }
            dropMessages()
        }
        return call.pointee.PQgetResult(handle)
    }

    // MARK: - The end of a connection

    /// Drops the connection that libpq reports as broken.
    func lose(_ problem: String? = nil) -> PostgreSQLError {
        if let loss { return loss }
        let reported = handle.flatMap { library.text(library.call.pointee.PQerrorMessage($0)) } ?? ""
        // The lines below the first guess at a reason.
        let line = reported.split(whereSeparator: \.isNewline).first.map { String($0) }
        let text = problem ?? line ?? "the server ended the connection"
        return drop(PostgreSQLError(.connectionLost, text, state: stateOfLoss))
    }

    /// What the server said before tells more.
    private func outOfStep() -> PostgreSQLError { lose(failure?.message ?? "the server's answers are out of step") }

    private func tooLate() -> PostgreSQLError {
        drop(PostgreSQLError(.timedOut, "the server did not answer in \(patience)", state: stateOfLoss))
    }

    private func drop(_ error: PostgreSQLError) -> PostgreSQLError {
        loss = error
        close(failing: error)
        return error
    }

    private var stateOfLoss: PostgreSQLError.ConnectionState {
        steps[firstOpen...].contains { $0.role == .commit } ? .lostAfterCommit : .lost
    }

    /// Heeds a warning: one that comes with a commit says that the commit did not wait for its standby.
    private func heed(_ notice: OpaquePointer) {
        guard firstOpen < steps.count, steps[firstOpen].role == .commit else { return }
        let (code, text) = (library.field("C", of: notice), library.field("M", of: notice))
        guard library.field("V", of: notice) == "WARNING", PostgreSQLError.tellsOfStandby(code, text) else { return }
        hasReplicationWarning = true
    }
}
