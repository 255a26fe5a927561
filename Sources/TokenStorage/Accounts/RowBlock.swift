/// Rows of a file that are read together: in the order of their ids, whatever order a list has.
///
/// In the order of names each account would be read from other pages than the one before it. With more pages than the
/// cache holds all of them would come from the file, ten for each account.
struct RowBlock {
    private static let largest = 4_096

    /// The first blocks are small, so that a long list begins at once.
    private var size = 512
    private var rows: [Int64] = []

    /// Adds a row.
    ///
    /// - Returns: whether the block is full.
    mutating func add(_ row: Int64) -> Bool {
        rows.append(row)
        return rows.count >= size
    }

    /// Empties the block: calls `body` with each row, in the order they came, and what `read` makes of it.
    ///
    /// Where one cannot be read, `body` still gets those before it, and then the error is thrown.
    ///
    /// - Returns: false once `body` did.
    mutating func empty<Read>(
        reading read: (Int64) throws -> Read,
        _ body: (Int64, Read) throws -> Bool
    ) throws -> Bool {
        let rows = rows
        self.rows.removeAll(keepingCapacity: true)
        size = min(2 * size, Self.largest)
        var found = [Read?](repeating: nil, count: rows.count)
        do {
            for index in rows.indices.sorted(by: { rows[$0] < rows[$1] }) { found[index] = try read(rows[index]) }
        } catch {
            // Said when it is the turn of the row that it is about.
        }
        for (index, row) in rows.enumerated() {
            guard try body(row, found[index] ?? read(row)) else { return false }
        }
        return true
    }
}
