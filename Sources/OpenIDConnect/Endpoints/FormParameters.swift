package import OAuth

/// The parameters of a form body, in order ([RFC 6749 appendix B](https://www.rfc-editor.org/rfc/rfc6749#appendix-B)).
package struct FormParameters: Sendable {
    private var parameters: [(name: String, value: Secret)] = []
    private(set) var secrets: [Secret] = []

    package init() {}

    /// Appends a parameter; nil appends nothing.
    package mutating func append(_ name: String, _ value: String?) {
        if let value { parameters.append((name, Secret(value))) }
    }

    package mutating func append(_ name: String, _ value: Secret?) {
        guard let value else { return }
        parameters.append((name, value))
        if value.count > 0 { secrets.append(value) }
    }

    /// The body as `application/x-www-form-urlencoded`, with everything escaped but unreserved characters.
    package var encoded: Secret {
        var bytes: [UInt8] = []
        // Growing would leave copies of what was written so far in freed memory.
        bytes.reserveCapacity(parameters.reduce(0) { $0 + 3 * ($1.name.utf8.count + $1.value.count) + 2 })
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        for (name, value) in parameters {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            for byte in name.utf8 { Self.append(byte, to: &bytes) }
            bytes.append(UInt8(ascii: "="))
            value.withUnsafeBytes { for byte in $0 { Self.append(byte, to: &bytes) } }
        }
        return bytes.withUnsafeBytes { Secret(copying: $0) }
    }

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            bytes.append(byte)
        case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
        default:
            bytes.append(UInt8(ascii: "%"))
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension FormParameters {
    /// What has more bytes than this is in no name by chance.
    private static let longestChance = 15

    /// `error` without the secrets of this form, which some servers repeat in what they say about them.
    package func redacting(_ error: OAuthError) -> OAuthError {
        var error = error
        if isEcho(error.code.rawValue) { error.code = .unknown }
        error.suberror = error.suberror.flatMap { isEcho($0) ? nil : $0 }
        error.serverDescription = error.serverDescription.flatMap { sentence($0) }
        error.claims = error.claims.map { redacting($0) }
        return error
    }

    /// A sentence of an issuer without the secrets of this form; nil where one that is a word is in it.
    ///
    /// A password may be a word of the sentence by chance. A hole in its place would tell the password, and with the
    /// word the sentence may be an echo of it: the code of the error has to do.
    private func sentence(_ text: String) -> String? {
        let words = secrets.filter { $0.count <= Self.longestChance && $0.isWord }
        return words.contains { $0.redacted(from: text) != text } ? nil : redacting(text)
    }

    /// `text` without the secrets of this form, as they are or as a form, JSON or HTML encodes them.
    package func redacting(_ text: String) -> String { secrets.reduce(text) { $1.redacted(from: $0) } }

    /// Whether a name that an issuer sent has a secret in it.
    ///
    /// A short one may be in a plain word by chance: the password `password` leaves `password_too_weak` as it is.
    private func isEcho(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_")
        }
        return secrets.contains { secret in
            let mayBeChance = isPlain && secret.count <= Self.longestChance && secret.count < name.utf8.count
            return !mayBeChance && secret.redacted(from: name) != name
        }
    }
}

extension Secret {
    /// Whether it has letters alone, as a word of a sentence has.
    fileprivate var isWord: Bool {
        withUnsafeBytes { bytes in
            bytes.allSatisfy { byte in
                // Of other alphabets every byte is above these.
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte > 0x7F
            }
        }
    }

    /// `text` with a word in the place of the secret.
    ///
    /// Bytes are compared, since to characters an accent behind the secret would make another text of it.
    fileprivate func redacted(from text: String) -> String {
        withUnsafeBytes { secret in
            var (rest, result) = (Array(text.utf8)[...], [UInt8]())
            while let first = rest.first {
                if let count = rest.encodedLength(of: secret) ?? (rest.starts(with: secret) ? secret.count : nil) {
                    result += Array(description.utf8)
                    rest = rest.dropFirst(count)
                } else {
                    result.append(first)
                    rest = rest.dropFirst()
                }
            }
            return String(decoding: result, as: UTF8.self)
        }
    }
}

extension ArraySlice<UInt8> {
    /// How many bytes `secret` takes at the beginning, if it is there as a form, JSON or HTML may have it: with any
    /// characters encoded, once or more often.
    fileprivate func encodedLength(of secret: UnsafeRawBufferPointer) -> Int? {
        var trials = 100
        return encodedLength(of: secret, &trials)
    }

    /// The same with so many second ways to read a character at most: an issuer chooses both texts.
    private func encodedLength(of secret: UnsafeRawBufferPointer, _ trials: inout Int) -> Int? {
        var (left, rest) = (secret, self)
        while !left.isEmpty {
            var ways = rest.ways(toBegin: left)
            guard let way = ways.popLast() else { return nil }
            for other in ways where trials > 0 {
                trials -= 1
                let behind = UnsafeRawBufferPointer(rebasing: left[other.secret...])
                if let length = rest.dropFirst(other.text).encodedLength(of: behind, &trials) {
                    return count - rest.count + other.text + length
                }
            }
            left = UnsafeRawBufferPointer(rebasing: left[way.secret...])
            rest = rest.dropFirst(way.text)
        }
        return count - rest.count
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
        while let high = digits.first?.hexadecimal, let low = digits.dropFirst().first?.hexadecimal {
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
