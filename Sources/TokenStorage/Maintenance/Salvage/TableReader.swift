import Database
import SQL

/// Reads the rows of a table around damaged pages: from the front, from the back, and one by one between.
struct TableReader {
    private let connection: Connection
    private let table: String
    private let columns: String

    /// How many ids in a row may be without a row before a hole counts as read.
    private static let missesAllowed = 10_000

    init(_ connection: Connection, table: String, columns: [String]) {
        self.connection = connection
        self.table = table
        self.columns = columns.joined(separator: ", ")
    }

    /// Calls `body` with the values of each row that can be read.
    ///
    /// - Returns: whether the table was read to its end without an error.
    func read(_ body: ([Value]) -> Void) -> Bool {
        guard columns.hasPrefix("id,") else { return scan("SELECT \(columns) FROM \(table)", body) }
        var last: Int64 = .min
        let isWhole = scan("SELECT \(columns) FROM \(table) ORDER BY id") { values in
            if case .integer(let id)? = values.first { last = id }
            body(values)
        }
        if isWhole { return true }
        var first: Int64 = .max
        _ = scan("SELECT \(columns) FROM \(table) WHERE id > \(last) ORDER BY id DESC") { values in
            if case .integer(let id)? = values.first { first = id }
            body(values)
        }
        guard last < first else { return false }
        // Where the back cannot be read either, ids end somewhere: they are handed out one by one.
        var id = last == .min ? 1 : last + 1
        var misses = 0
        guard let probe = try? connection.prepare("SELECT \(columns) FROM \(table) WHERE id = ?1") else { return false }
        while id < first, misses < Self.missesAllowed {
            var isFound = false
            _ = run(probe, [.integer(id)]) { values in
                isFound = true
                body(values)
            }
            misses = isFound ? 0 : misses + 1
            id += 1
        }
        return false
    }

    private func scan(_ sql: String, _ body: ([Value]) -> Void) -> Bool {
        guard let statement = try? connection.prepare(sql) else { return false }
        return run(statement, [], body)
    }

    private func run(_ statement: Statement, _ values: [Value], _ body: ([Value]) -> Void) -> Bool {
        do {
            try statement.forEachRow(values) { row in body((0..<row.columnCount).map { row.value($0) }) }
            return true
        } catch {
            // Damage is what this looks for: the caller goes on around it.
            return false
        }
    }
}
