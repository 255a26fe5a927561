import SQLite

/// Reads the rows of a table around damaged pages: from the front, from the back, and one by one between.
struct TableReader {
    private let connection: Connection
    private let table: String
    private let columns: String

    /// How many row ids of a hole are tried one by one.
    private static let probes: Int64 = 100_000

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
        let start = last == .min ? 1 : last + 1
        // Where the back cannot be read either, ids end somewhere: they are handed out one by one.
        let end = first == .max ? start + Self.probes : min(first, start + Self.probes)
        var id = start
        while id < end {
            _ = scan("SELECT \(columns) FROM \(table) WHERE id = \(id)", body)
            id += 1
        }
        return false
    }

    private func scan(_ sql: String, _ body: ([Value]) -> Void) -> Bool {
        do {
            try connection.prepare(sql).forEach([]) { row in
                body((0..<row.columnCount).map { row.value($0) })
                return true
            }
            return true
        } catch {
            // Damage is what this looks for: the caller goes on around it.
            return false
        }
    }
}
