import Database

extension TokenStore {
    /// How far a long piece of work is.
    public struct Progress: Sendable {
        /// How many were dealt with.
        public let done: Int

        /// Nil if it is not known.
        public let total: Int?

        /// What is counted, in the plural.
        public let unit: String
    }

    /// Is told now and then how far a long piece of work is.
    ///
    /// An error that it throws ends the work: what is one commit is as it was, and a rekey is finished by the next one.
    /// So does the end of a task that is cancelled while it waits for the work.
    public typealias ProgressHandler = (Progress) throws -> Void
}

/// Counts rows that are dealt with one after the other, and tells now and then how many.
final class RowProgress {
    private let handler: TokenStore.ProgressHandler?
    private let total: Int?
    private let unit: String
    private let step: Int
    private var done = 0
    private var told = 0

    init(_ handler: TokenStore.ProgressHandler?, total: Int?, unit: String, step: Int = 512) {
        (self.handler, self.total, self.unit, self.step) = (handler, total, unit, step)
    }

    /// Says that nothing is done yet.
    func start() throws { try tell() }

    func advance(by count: Int = 1) throws {
        done += count
        if done - told >= step { try tell() }
    }

    /// Says that only what ends the work is left.
    func end() throws {
        guard done > 0 else { return }
        done = max(done, total ?? done)
        try tell()
    }

    private func tell() throws {
        told = done
        try handler?(TokenStore.Progress(done: done, total: total.map { max($0, done) }, unit: unit))
    }
}

extension Int {
    /// How many rows there are, as a database says: what a server makes up has no sum overflow.
    init(count: Int64) { self = Int(Swift.min(Swift.max(count, 0), 1 << 40)) }
}

extension Connection {
    /// How many rows a table has.
    func rowCount(of table: String) throws -> Int {
        try prepare("SELECT count(*) FROM \(table)").first([]) { Int(count: $0.integer(0)) } ?? 0
    }
}

extension StoreConnection {
    /// How many rows some tables have together; nil where one of them is damaged.
    func rowCount(_ tables: [SealedTable]) throws -> Int? {
        do {
            return try tables.reduce(0) { try $0 + connection.rowCount(of: $1.name) }
        } catch let error as SQLiteError where error.code.primary == .corrupt {
            return nil
        }
    }
}
