/// Base64 with the URL-safe alphabet ([RFC 4648 §5](https://www.rfc-editor.org/rfc/rfc4648#section-5)).
package enum Base64URL {
    /// The bytes that `text` encodes, or nil if it is not base64url; padding is optional.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable { decode(bytes: $0) }
            ?? Array(text).withUnsafeBufferPointer { decode(bytes: $0) }
    }

    private static func decode(bytes text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let values = values
        var isDecoded = false
        let decoded = [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4 + 1) { bytes, count in
            var buffer: UInt32 = 0
            var bits = 0
            var padding = 0
            // Four characters at a time, as an ID token has thousands; the rest, or what is none, one by one.
            var start = 0
            while start + 4 <= text.count {
                let (a, b) = (values[Int(text[start])], values[Int(text[start + 1])])
                let (c, d) = (values[Int(text[start + 2])], values[Int(text[start + 3])])
                guard a | b | c | d < 64 else { break }
                bytes[count] = a << 2 | b >> 4
                bytes[count + 1] = b << 4 | c >> 2
                bytes[count + 2] = c << 6 | d
                (count, start) = (count + 3, start + 4)
            }
            for character in text[start...] {
                if character == UInt8(ascii: "=") {
                    padding += 1
                    continue
                }
                let value = values[Int(character)]
                guard value < 64, padding == 0 else { return }
                buffer = buffer << 6 | UInt32(value)
                bits += 6
                if bits >= 8 {
                    bits -= 8
                    bytes[count] = UInt8(truncatingIfNeeded: buffer >> UInt32(bits))
                    count += 1
                }
            }
            // A lone character holds no byte, and left-over bits would let two texts mean the same bytes.
            isDecoded = bits < 6 && buffer & (1 << UInt32(bits) - 1) == 0 && padding < 3
        }
        return isDecoded ? decoded : nil
    }

    /// `bytes` as base64url without padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(buffer >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(buffer << UInt32(6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}

extension UInt8 {
    /// The value of the hexadecimal digit that this byte is in ASCII.
    package var hexadecimal: UInt8? { Character(Unicode.Scalar(self)).hexDigitValue.map(UInt8.init) }
}

extension Sequence<UInt8> {
    /// The bytes with each `%` and the two digits behind it decoded
    /// ([RFC 3986 §2.1](https://www.rfc-editor.org/rfc/rfc3986#section-2.1)); nil where the digits are missing.
    package var percentDecoded: [UInt8]? {
        var (rest, decoded) = (Array(self)[...], [UInt8]())
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimal, let low = rest.popFirst()?.hexadecimal else { return nil }
            decoded.append(high << 4 | low)
        }
        return decoded
    }
}
