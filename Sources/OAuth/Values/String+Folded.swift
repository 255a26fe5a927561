extension String {
    /// The form in which identifiers are compared: without surrounding space or regard to case.
    package var folded: String {
        // Nearly every identifier is ASCII and folded already; Unicode's rules cost 300 times as much as a look.
        if utf8.withContiguousStorageIfAvailable(\.areFolded) ?? false { return self }
        var text = self
        return text.withUTF8 { $0.areASCII ? $0.foldedASCII : foldedUnicode }
    }

    /// Whether the text is the same byte by byte, where `==` takes two spellings of a letter for one.
    package func hasSameBytes(as other: String) -> Bool {
        // A look at the counts tells most names apart; `==` would take quadratic time on combining marks.
        guard utf8.count == other.utf8.count else { return false }
        // In place: copies would count references.
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right -> Bool in
                // Mostly one text is compared with itself.
                if left.baseAddress == right.baseAddress { return true }
                // No early exit, as below.
                var difference: UInt8 = 0
                for index in left.indices { difference |= left[index] ^ right[index] }
                return difference == 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    private var foldedUnicode: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()).lowercased()
    }
}

/// A text as a key, by its bytes: `String` takes two spellings of a letter for one key, and hashes combining marks in
/// quadratic time.
package struct ExactText: Hashable, Sendable {
    private let text: String

    package init(_ text: String) { self.text = text }

    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.text.hasSameBytes(as: rhs.text) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// The case of this name, byte by byte: `init(rawValue:)` compares as `==` does.
    package init?(exactly name: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }) else { return nil }
        self = found
    }
}

extension StringProtocol {
    /// The parts between separators that are not empty.
    ///
    /// Separators are looked for as bytes: one with a combining mark behind it is another `Character`.
    package func parts(separatedBy separator: Unicode.Scalar) -> [String] {
        Substring(self).utf8.split(separator: UInt8(ascii: separator)).map { String(Substring($0)) }
    }

    /// Whether it is a GUID, by which Microsoft names tenants, users and clients.
    package var isGUID: Bool {
        utf8.count == 36
            && utf8.enumerated().allSatisfy { index, byte in
                switch index {
                case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                default: byte.isHexDigit
                }
            }
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

    fileprivate var isHexDigit: Bool { self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 6 }
}

extension Unicode.Scalar {
    /// Whether a terminal or another reader would obey this scalar, or hide it, rather than show it.
    ///
    /// Such are control characters, marks that change the direction of writing, separators of lines, and what has no
    /// width. `previous` is the scalar before it: joiners belong to some writing systems and to emoji.
    package func isObeyed(after previous: Unicode.Scalar?) -> Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0xAD: return true
        case 0x20..<0x300: return false
        case 0x200C, 0x200D: return previous.map { $0.value < 0x300 } ?? true
        case 0xFE00...0xFE0F: return previous.map { !$0.properties.isEmoji } ?? true
        default: break
        }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse: return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }
}

extension String {
    /// Calls `body` with each scalar, and whether it is better escaped than shown.
    package func forEachScalar(_ body: (Unicode.Scalar, _ isObeyed: Bool) -> Void) {
        var previous: Unicode.Scalar?
        for scalar in unicodeScalars {
            body(scalar, scalar.isObeyed(after: previous))
            previous = scalar
        }
    }
}

extension String {
    /// Whether it has characters that are not text: one of them separates the parts of ``Account/ID/key``.
    package var hasControlCharacters: Bool {
        // All that Unicode calls so; to ask for the category of a scalar costs a hundred times as much.
        unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
    }
}
