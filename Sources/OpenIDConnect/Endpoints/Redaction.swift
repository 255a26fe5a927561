import OAuth

/// A text without secrets, or that it cannot be had.
///
/// An issuer chooses the text and may have chosen the secrets, so that to compare them could take time without end. All
/// of them are looked for at once: a secret that begins in the part that is kept is found to its end.
struct Redaction {
    /// What stands in the place of a secret.
    static let mark = "\(Secret(""))"

    /// Enough for texts of some pages and for many secrets.
    private static let mostSteps = 500_000

    /// The text; nil if it took too many steps.
    private(set) var text: String?

    private var hasSecret = false

    /// Whether a secret was found, or the search was not finished.
    var mayHaveSecret: Bool { hasSecret || text == nil }

    /// Bytes are compared, since to characters an accent behind a secret would make another text of it.
    ///
    /// Of the text at most `limit` bytes are kept.
    init(of secrets: [Secret], in text: String, upTo limit: Int = .max) {
        var (rest, result, steps) = (Array(text.utf8)[...], [UInt8](), Self.mostSteps)
        // A character is kept whole.
        while let first = rest.first, rest.startIndex < limit || first & 0xC0 == 0x80 {
            var longest = 0
            for secret in secrets { longest = max(longest, secret.length(atStartOf: rest, &steps)) }
            guard steps > 0 else { return }
            if longest > 0 {
                hasSecret = true
                result += Array(Self.mark.utf8)
                rest = rest.dropFirst(longest)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        self.text = String(decoding: result, as: UTF8.self)
    }
}

extension Secret {
    /// How many bytes it takes at the beginning of `text`, as it is or encoded; 0 if it is not there.
    fileprivate func length(atStartOf text: ArraySlice<UInt8>, _ steps: inout Int) -> Int {
        withUnsafeBytes { secret in
            text.encodedLength(of: secret, &steps) ?? text.plainLength(of: secret, &steps) ?? 0
        }
    }
}

extension ArraySlice<UInt8> {
    /// How many bytes `secret` takes at the beginning, if it is there as a form, JSON or HTML may have it: with any
    /// characters encoded, once or more often.
    fileprivate func encodedLength(of secret: UnsafeRawBufferPointer, _ steps: inout Int) -> Int? {
        var trials = 100
        return encodedLength(of: secret, &trials, &steps)
    }

    /// The same with so many second ways to read a character at most: an issuer chooses both texts.
    private func encodedLength(
        of secret: UnsafeRawBufferPointer,
        _ trials: inout Int,
        _ steps: inout Int
    ) -> Int? {
        var (left, rest) = (secret, self)
        while !left.isEmpty {
            steps -= 1
            guard steps > 0, let byte = rest.first else { return nil }
            guard byte.mayBeginEncoding else {
                guard byte == left[0] else { return nil }
                left = UnsafeRawBufferPointer(rebasing: left[1...])
                rest = rest.dropFirst()
                continue
            }
            var ways = rest.ways(toBegin: left)
            guard let way = ways.popLast() else { return nil }
            for other in ways where trials > 0 {
                trials -= 1
                let behind = UnsafeRawBufferPointer(rebasing: left[other.secret...])
                if let length = rest.dropFirst(other.text).encodedLength(of: behind, &trials, &steps) {
                    return count - rest.count + other.text + length
                }
            }
            left = UnsafeRawBufferPointer(rebasing: left[way.secret...])
            rest = rest.dropFirst(way.text)
        }
        return count - rest.count
    }

    /// How many bytes `secret` takes at the beginning as it is.
    fileprivate func plainLength(of secret: UnsafeRawBufferPointer, _ steps: inout Int) -> Int? {
        guard count >= secret.count else { return nil }
        for (offset, byte) in secret.enumerated() {
            steps -= 1
            guard steps > 0, self[startIndex + offset] == byte else { return nil }
        }
        return secret.count
    }

    /// How many bytes of `secret`, at its beginning, how many bytes here may stand for.
    private func ways(toBegin secret: UnsafeRawBufferPointer) -> [(secret: Int, text: Int)] {
        guard let byte = first else { return [] }
        let plain = byte == secret[0] ? [(secret: 1, text: 1)] : []
        switch byte {
        case UInt8(ascii: "%"): return plain + lengthsInForm(of: secret[0]).map { (1, $0) }
        case UInt8(ascii: "+"): return secret[0] == UInt8(ascii: " ") ? [(1, 1)] : plain
        case UInt8(ascii: "\\"), UInt8(ascii: "&"):
            guard let (scalar, length) = byte == UInt8(ascii: "&") ? scalarInHTML : scalarInJSON else { return plain }
            let bytes = Array(String(scalar).utf8)
            return plain + (secret.starts(with: bytes) ? [(bytes.count, length)] : [])
        default: return plain
        }
    }

    /// The lengths of two digits behind `%`, which may be encoded itself.
    private func lengthsInForm(of wanted: UInt8) -> [Int] {
        var (digits, lengths) = (dropFirst(), [Int]())
        // What is encoded more often than this is so on purpose.
        while count - digits.count < 64, let high = digits.first?.hexadecimal,
            let low = digits.dropFirst().first?.hexadecimal
        {
            digits = digits.dropFirst(2)
            let byte = high << 4 | low
            if byte == wanted { lengths.append(count - digits.count) }
            guard byte == UInt8(ascii: "%") else { break }
        }
        return lengths
    }

    private var scalarInJSON: (Unicode.Scalar, length: Int)? {
        guard let letter = dropFirst().first else { return nil }
        guard letter == UInt8(ascii: "u") else { return (Unicode.Scalar(Self.letters[letter] ?? letter), 2) }
        guard let unit = dropFirst(2).prefix(4).number(radix: 16), dropFirst(2).prefix(4).count == 4 else { return nil }
        if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
        let next = dropFirst(6)
        guard next.starts(with: "\\u".utf8), let second = next.dropFirst(2).prefix(4).number(radix: 16),
            (0xD800..<0xDC00).contains(unit), (0xDC00..<0xE000).contains(second)
        else { return nil }
        return Unicode.Scalar(0x1_0000 + (unit - 0xD800) << 10 + (second - 0xDC00)).map { ($0, 12) }
    }

    /// What the letters behind a backslash stand for.
    private static let letters: [UInt8: UInt8] = [
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "t"): 0x09, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "f"): 0x0C,
        UInt8(ascii: "r"): 0x0D,
    ]

    private var scalarInHTML: (Unicode.Scalar, length: Int)? {
        guard let end = prefix(10).firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = self[startIndex + 1..<end]
        let length = end + 1 - startIndex
        guard name.first == UInt8(ascii: "#") else {
            return Self.entities[String(decoding: name, as: UTF8.self)].map { ($0, length) }
        }
        let isHexadecimal = name.dropFirst().first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
        let number = name.dropFirst(isHexadecimal ? 2 : 1).number(radix: isHexadecimal ? 16 : 10)
        return number.flatMap { Unicode.Scalar($0) }.map { ($0, length) }
    }

    private static let entities: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
    ]

    private func number(radix: Int) -> UInt32? {
        // Not with a sign, which Swift takes too.
        guard allSatisfy({ $0.hexadecimal != nil }) else { return nil }
        return UInt32(String(decoding: self, as: UTF8.self), radix: radix)
    }
}

extension UInt8 {
    /// Whether a form, JSON or HTML may have a character as it begins with this one.
    fileprivate var mayBeginEncoding: Bool {
        self == UInt8(ascii: "%") || self == UInt8(ascii: "+") || self == UInt8(ascii: "\\")
            || self == UInt8(ascii: "&")
    }
}
