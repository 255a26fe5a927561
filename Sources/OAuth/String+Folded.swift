extension String {
    /// The form in which identifiers are compared: without surrounding space or regard to case.
    package var folded: String {
        var text = self
        // Nearly every identifier is ASCII and folded already; Unicode's rules cost 300 times as much as a look.
        return text.withUTF8 { bytes in
            if bytes.areFolded { return self }
            return bytes.areASCII ? bytes.foldedASCII : foldedUnicode
        }
    }

    /// Whether the text is the same byte by byte, where `==` takes two spellings of a letter for one.
    package func hasSameBytes(as other: String) -> Bool {
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count else { return false }
                // Mostly one text is compared with itself.
                if left.baseAddress == right.baseAddress { return true }
                // No early exit, as below.
                var difference: UInt8 = 0
                for index in left.indices { difference |= left[index] ^ right[index] }
                return difference == 0
            }
        }
    }

    private var foldedUnicode: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()).lowercased()
    }
}

extension StringProtocol {
    /// The parts between separators that are not empty.
    ///
    /// Separators are looked for as bytes: one with a combining mark behind it is another `Character`.
    package func parts(separatedBy separator: Unicode.Scalar) -> [String] {
        utf8.split(separator: UInt8(ascii: separator)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these are visible ASCII characters, none of them a capital letter.
    fileprivate var areFolded: Bool {
        // No early exit: so the compiler looks at many bytes at once.
        var others: UInt8 = 0
        for byte in self { others |= (byte &- 0x21 >= 0x5E ? 1 : 0) | (byte &- 0x41 < 26 ? 1 : 0) }
        return others == 0
    }

    fileprivate var areASCII: Bool { reduce(0, |) < 0x80 }

    fileprivate var foldedASCII: String {
        guard let start = firstIndex(where: { !$0.isSpace }), let end = lastIndex(where: { !$0.isSpace }) else {
            return ""
        }
        return String(unsafeUninitializedCapacity: end + 1 - start) { folded in
            for index in start...end {
                let byte = self[index]
                folded[index - start] = byte &- 0x41 < 26 ? byte | 0x20 : byte
            }
            return end + 1 - start
        }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || self &- 0x09 < 5 }
}
