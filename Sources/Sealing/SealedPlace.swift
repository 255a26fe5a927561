/// Where a sealed value stands, so that it opens nowhere else.
package struct SealedPlace: Hashable, Sendable {
    package let table: String
    package let column: String
    package let owner: Int64
    package let row: Int64

    /// The value in `column` of row `row` of `table`.
    ///
    /// `owner` is the row that this row belongs to, such as its account, where a foreign key could otherwise be
    /// pointed at another owner.
    package init(table: String, column: String, owner: Int64 = 0, row: Int64) {
        self.table = table
        self.column = column
        self.owner = owner
        self.row = row
    }

    /// `header` and this place, such that no two places give the same bytes: texts carry their length.
    func associatedData(header: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(header.count + 8 + table.utf8.count + column.utf8.count + 16)
        bytes.append(contentsOf: header)
        bytes.append(lengthPrefixed: table)
        bytes.append(lengthPrefixed: column)
        bytes.append(bigEndian: owner)
        bytes.append(bigEndian: row)
        return bytes
    }
}
