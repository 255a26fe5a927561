/// What a sealed value is bound to; its layout is always: format, data key id, nonce, ciphertext, tag.
///
/// A data key knows its format from how it is wrapped, so that a value of an older one cannot be put in the place of a
/// newer one.
package enum SealedFormat: UInt8, Sendable {
    /// To its place alone.
    case placed = 1

    /// To its place, and to the clear columns of its row.
    case bound = 2

    static let headerCount = 5
    static let nonceCount = 12
    static let tagCount = 16
    static let overhead = headerCount + nonceCount + tagCount

    static func keyID(of sealed: UnsafeRawBufferPointer) -> UInt32? {
        guard sealed.count >= overhead, SealedFormat(rawValue: sealed[0]) != nil else { return nil }
        return UInt32(bigEndian: sealed.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
    }

    func writeHeader(keyID: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
        bytes[0] = rawValue
        bytes.storeBytes(of: keyID.bigEndian, toByteOffset: 1, as: UInt32.self)
    }
}

/// Where a sealed value stands, so that it opens nowhere else.
package struct SealedLocation: Hashable, Sendable {
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
                    var position = SealedFormat.headerCount
                    bytes.write(lengthPrefixed: table, at: &position)
                    bytes.write(lengthPrefixed: column, at: &position)
                    bytes.write(owner, at: &position)
                    bytes.write(row, at: &position)
                    bytes.write(clear, at: &position)
                    return try body(UnsafeRawBufferPointer(bytes))
                }
            }
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Writes `number` in big-endian order at `position`, and moves that behind it.
    fileprivate func write(_ number: some FixedWidthInteger & BitwiseCopyable, at position: inout Int) {
        storeBytes(of: number.bigEndian, toByteOffset: position, as: type(of: number))
        position += MemoryLayout.size(ofValue: number)
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer, at position: inout Int) {
        UnsafeMutableRawBufferPointer(rebasing: self[position...]).copyMemory(from: bytes)
        position += bytes.count
    }

    fileprivate func write(lengthPrefixed text: UnsafeBufferPointer<UInt8>, at position: inout Int) {
        write(UInt32(text.count), at: &position)
        write(UnsafeRawBufferPointer(text), at: &position)
    }
}
