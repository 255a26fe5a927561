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

    /// Calls `body` with the data key's id, this place and the clear columns, such that no two give the same bytes:
    /// texts carry their length, and the columns come last.
    func withAssociatedData<Result>(
        _ format: SealedFormat,
        keyID: UInt32,
        _ clear: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        var table = table
        var column = column
        return try table.withUTF8 { table in
            try column.withUTF8 { column in
                let clear = format == .bound ? clear : .empty
                let count = SealedFormat.headerCount + 8 + table.count + column.count + 16 + clear.count
                // On the stack: an array would cost a tenth of opening the value.
                return try withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { bytes in
                    format.writeHeader(keyID: keyID, to: bytes)
                    var rest = UnsafeMutableRawBufferPointer(rebasing: bytes[SealedFormat.headerCount...])
                    rest.write(lengthPrefixed: table)
                    rest.write(lengthPrefixed: column)
                    rest.write(owner)
                    rest.write(row)
                    rest.copyMemory(from: clear)
                    return try body(UnsafeRawBufferPointer(bytes))
                }
            }
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Writes `number` in big-endian order and goes past it.
    fileprivate mutating func write(_ number: some FixedWidthInteger & BitwiseCopyable) {
        storeBytes(of: number.bigEndian, as: type(of: number))
        self = UnsafeMutableRawBufferPointer(rebasing: dropFirst(MemoryLayout.size(ofValue: number)))
    }

    fileprivate mutating func write(lengthPrefixed text: UnsafeBufferPointer<UInt8>) {
        write(UInt32(text.count))
        copyMemory(from: UnsafeRawBufferPointer(text))
        self = UnsafeMutableRawBufferPointer(rebasing: dropFirst(text.count))
    }
}
