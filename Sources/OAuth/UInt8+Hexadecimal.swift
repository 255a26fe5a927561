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
