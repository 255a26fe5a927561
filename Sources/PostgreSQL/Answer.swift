/// The answer to a question that was asked without waiting for it.
///
/// Questions that do not depend on each other are asked one after another and then read: one round trip for all.
package final class Answer {
    /// Weak, as the connection holds an answer that it owes.
    private weak var connection: Connection?
    private var outcome: Result<Rows, PostgreSQLError>?

    init(_ connection: Connection) { self.connection = connection }

    func complete(_ rows: Rows) { outcome = .success(rows) }

    func fail(_ error: PostgreSQLError) { outcome = .failure(error) }

    /// The rows, for which the call waits if they are not there yet.
    package func rows() throws -> Rows {
        if outcome == nil {
            do {
                try connection?.settle()
            } catch {
                // Outside a transaction another question's failure is not one of this answer.
                let isOwn = outcome == nil || connection?.isInTransaction == true
                if isOwn || (error as? PostgreSQLError)?.code == .notReplicated { throw error }
            }
        }
        guard let outcome else { throw PostgreSQLError(.connectionLost, "the connection was closed", state: .lost) }
        return try outcome.get()
    }

    package func forEach(_ body: (Row) throws -> Void) throws { try rows().forEach(body) }

    package func all<Result>(_ body: (Row) throws -> Result) throws -> [Result] { try rows().all(body) }

    package func first<Result>(_ body: (Row) throws -> Result) throws -> Result? { try rows().first(body) }

    /// The first column of the first row as an integer, or nil if the result is empty.
    package func integer() throws -> Int64? { try first { $0.integer(0) } }

    /// The number of rows that the statement changed or returned.
    package func count() throws -> Int { try rows().affected }
}
