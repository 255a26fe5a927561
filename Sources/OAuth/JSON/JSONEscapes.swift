/// Reads JSON text that has escapes in it; the slow path of ``JSONReader``.
struct JSONEscapes {
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset: Int
    private var text: [UInt8]

    /// Whether half of a character becomes U+FFFD, which says that one is missing, instead of being refused.
    private let mends: Bool
    private(set) var isMended = false

    /// Whether control characters, and escapes that JSON does not have, stand for themselves instead of being refused.
    private let forgives: Bool

    /// Starts at the first byte after the opening quote, and takes up the work at the first escape.
    init(_ bytes: UnsafeRawBufferPointer, start: Int, backslash: Int, mends: Bool, forgives: Bool) {
        self.bytes = bytes
        offset = backslash
        self.mends = mends
        self.forgives = forgives
        text = Array(bytes[start..<backslash])
    }

    /// The text up to the closing quote, which is passed.
    mutating func unescaped() throws(JSONError) -> String {
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                guard let valid = String(validating: text, as: UTF8.self) else {
                    throw error("text is not valid UTF-8")
                }
                offset += 1
                return valid
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20 where !forgives: throw error("text holds a control character")
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw error("the document ends inside text")
    }

    private mutating func escape() throws(JSONError) {
        guard offset + 1 < bytes.count else { throw error("the document ends inside text") }
        let letter = bytes[offset + 1]
        offset += 2
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u") where !forgives || isHexadecimal(bytes[offset...].prefix(4)):
            text.append(contentsOf: Array(String(try scalar()).utf8))
        default:
            guard forgives else { throw error("an escape is unknown") }
            text += [UInt8(ascii: "\\"), letter]
        }
    }

    private func isHexadecimal(_ digits: Slice<UnsafeRawBufferPointer>) -> Bool {
        digits.count == 4 && digits.allSatisfy { $0.hexadecimal != nil }
    }

    private mutating func scalar() throws(JSONError) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(UInt32(first)) { return scalar }
        let end = offset
        if UTF16.isLeadSurrogate(first), offset + 1 < bytes.count, bytes[offset] == UInt8(ascii: "\\"),
            bytes[offset + 1] == UInt8(ascii: "u")
        {
            offset += 2
            let second = try codeUnit()
            if UTF16.isTrailSurrogate(second) { return UTF16.decode(.init([first, second] as [UInt16])) }
        }
        guard mends else { throw error("half of a character is missing") }
        // A separate character follows.
        offset = end
        isMended = true
        return "\u{FFFD}"
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        guard offset + 4 <= bytes.count else { throw error("the document ends inside text") }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(bytes[offset])).hexDigitValue else {
                throw error("an escape is unknown")
            }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }

    private func error(_ reason: String) -> JSONError { JSONError(reason: reason, offset: offset) }
}
