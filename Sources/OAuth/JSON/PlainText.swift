extension UnsafeRawBufferPointer {
    /// Where the bytes of a text of JSON end that stand for themselves: at a quotation mark, a backslash or a control
    /// character, else at the end.
    ///
    /// The bits that any of them has are added to `bits`.
    func endOfPlainText(from start: Int, bits: inout UInt64) -> Int {
        var offset = start
        // Eight at once: most of a cache is tokens.
        while offset + 8 <= count {
            let eight = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if eight.hasByteThatEndsPlainText { break }
            bits |= eight
            offset += 8
        }
        while offset < count, !self[offset].endsPlainText {
            bits |= UInt64(self[offset])
            offset += 1
        }
        return offset
    }
}

extension UInt8 {
    /// Whether this is a control character, a quotation mark or a backslash, none of which stands for itself in a text.
    fileprivate var endsPlainText: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}

extension UInt64 {
    /// Eight times the same byte.
    fileprivate init(repeating byte: UInt8) { self = UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// Whether these bits are of ASCII alone.
    var areASCII: Bool { self & UInt64(repeating: 0x80) == 0 }

    /// Whether one of the eight bytes is a quotation mark, a backslash or a control character.
    fileprivate var hasByteThatEndsPlainText: Bool {
        // Subtracting borrows from the highest bit of a byte that is smaller, and had that bit not set itself.
        let ones = UInt64(repeating: 1)
        let quotes = self ^ UInt64(repeating: UInt8(ascii: "\""))
        let backslashes = self ^ UInt64(repeating: UInt8(ascii: "\\"))
        let below = (self &- UInt64(repeating: 0x20)) & ~self
        let zeros = (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
        return (below | zeros) & UInt64(repeating: 0x80) != 0
    }
}
