import OAuth

/// A key written as text: base64 of either alphabet, padded or not, or hexadecimal.
enum KeyText {
    /// The key, nil if the text is not a key; white space around it does not count.
    static func decode(_ text: Secret) -> Secret? {
        text.withUnsafeBytes { bytes in
            guard let start = bytes.firstIndex(where: { !isSpace($0) }),
                let end = bytes.lastIndex(where: { !isSpace($0) })
            else { return nil }
            var digits = UnsafeRawBufferPointer(rebasing: bytes[start...end])
            if digits.count == 64 { return decode(digits, bitsPerDigit: 4, value: hexadecimalValue) }
            if digits.count == 44, digits.last == UInt8(ascii: "=") { digits = .init(rebasing: digits.dropLast()) }
            return digits.count == 43 ? decode(digits, bitsPerDigit: 6, value: base64Value) : nil
        }
    }

    /// Padded base64 of the standard alphabet.
    static func encode(_ key: Secret) -> Secret {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return withUnsafeTemporaryAllocation(byteCount: (key.count + 2) / 3 * 4, alignment: 1) { text in
            defer { wipe(text) }
            text.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "="))
            key.withUnsafeBytes { bytes in
                for index in 0..<(bytes.count * 8 + 5) / 6 {
                    let byte = index * 6 / 8
                    let next = byte + 1 < bytes.count ? bytes[byte + 1] : 0
                    let pair = UInt16(bytes[byte]) << 8 | UInt16(next)
                    text[index] = digits[Int(pair >> UInt16(10 - index * 6 % 8)) & 63]
                }
            }
            return Secret(copying: UnsafeRawBufferPointer(text))
        }
    }

    /// 32 bytes from `digits`; bits that are left over must be zero.
    private static func decode(
        _ digits: UnsafeRawBufferPointer,
        bitsPerDigit: Int,
        value: (UInt8) -> UInt8?
    ) -> Secret? {
        withUnsafeTemporaryAllocation(byteCount: KeyEncryptionKey.byteCount, alignment: 1) { key in
            defer { wipe(key) }
            var bits: UInt32 = 0
            var bitCount = 0
            var filled = 0
            for digit in digits {
                guard let value = value(digit) else { return nil }
                bits = bits << bitsPerDigit | UInt32(value)
                bitCount += bitsPerDigit
                guard bitCount >= 8 else { continue }
                bitCount -= 8
                key[filled] = UInt8(truncatingIfNeeded: bits >> bitCount)
                filled += 1
            }
            guard filled == key.count, bits & (1 << bitCount - 1) == 0 else { return nil }
            return Secret(copying: UnsafeRawBufferPointer(key))
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (9...13).contains(byte)
    }

    private static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func base64Value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
