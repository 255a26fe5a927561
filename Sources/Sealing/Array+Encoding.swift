extension [UInt8] {
    mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends the number of UTF-8 bytes in four bytes, then the bytes.
    mutating func append(lengthPrefixed text: String) {
        append(bigEndian: UInt32(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}

extension Sequence<UInt8> {
    var hexadecimal: String {
        var text = ""
        for byte in self {
            if byte < 16 { text.append("0") }
            text.append(String(byte, radix: 16))
        }
        return text
    }
}
