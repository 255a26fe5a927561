import OAuth

extension String {
    /// The text with everything escaped that a terminal would obey rather than show.
    ///
    /// Names and claims come from elsewhere: a control character could move the cursor, and a change of writing
    /// direction could make one name look like another.
    var printable: String {
        var whole = self
        let isPlain = whole.withUTF8 { bytes in bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }
        guard !isPlain else { return self }
        var text = ""
        forEachScalar { scalar, isObeyed in
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where isObeyed: text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The number of columns the text takes on a terminal.
    var columns: Int {
        var utf8 = self
        let isASCII = utf8.withUTF8 { bytes in bytes.allSatisfy { $0 < 0x80 } }
        return isASCII ? self.utf8.count : reduce(0) { $0 + $1.columns }
    }

    /// The text, cut to fit and ending in an ellipsis if it takes more columns than `width`.
    func truncated(to width: Int) -> String {
        guard columns > width else { return self }
        guard width > 0 else { return "" }
        var rest = width - 1
        var text = ""
        for character in self {
            rest -= character.columns
            guard rest >= 0 else { break }
            text.append(character)
        }
        return text + "…"
    }
}

// MARK: - Shorter texts for a terminal

extension String {
    /// A GUID as its first eight letters; any other text as it is.
    var shortGUID: String { isGUID ? prefix(8) + "…" : self }

    /// The text with every GUID in it shortened.
    var withShortGUIDs: String {
        guard utf8.count >= 36, utf8.contains(UInt8(ascii: "-")) else { return self }
        var text = ""
        var word = ""
        for character in self {
            if character.isHexDigit || character == "-" {
                word.append(character)
            } else {
                text += word.shortGUID
                word = ""
                text.append(character)
            }
        }
        return text + word.shortGUID
    }

    /// An address without its scheme and with short GUIDs, its middle left out where it is still long.
    var shortAddress: String {
        let scheme = "https://"
        let text = (hasPrefix(scheme) ? String(dropFirst(scheme.count)) : self).withShortGUIDs
        let longest = 32
        guard text.columns > longest else { return text }
        let tail = String(text.reversed()).truncated(to: longest / 2).dropLast()
        return String(text.truncated(to: longest / 2)) + String(tail.reversed())
    }

    /// The text in lines of at most `width` columns; the lines behind the first one begin with `indentation` spaces.
    func wrapped(to width: Int, indentation: Int = 0) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in split(separator: " ", omittingEmptySubsequences: false) {
            let room = width - (lines.isEmpty ? 0 : indentation)
            if !line.isEmpty, line.columns + 1 + String(word).columns > room {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(line)
        let start = String(repeating: " ", count: indentation)
        return lines.enumerated().map { $0 == 0 ? $1 : start + $1 }
    }
}

extension Collection<String> {
    /// The first of `total` names with commas between them, and how many more there are.
    func listed(of total: Int) -> String {
        let more = total - count
        return joined(separator: ", ") + (more > 0 ? " and \(more.grouped) more" : "")
    }
}

extension UInt8 {
    /// Whether it is a letter of ASCII or a digit.
    var isLetterOrDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20
    }
}

extension Character {
    /// 2 for East Asian wide and full-width characters and emoji, 0 for a combining mark that stands alone.
    fileprivate var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.value < 0x300 { return 1 }
        if first.isWide || unicodeScalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }
}

extension Unicode.Scalar {
    /// East Asian Width W and F ([UAX #11](https://www.unicode.org/reports/tr11/)), in blocks.
    fileprivate var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0, 0x23F3, 0x25FD...0x25FE,
            0x2614...0x2615, 0x2648...0x2653, 0x267F, 0x2693, 0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE,
            0x26C4...0x26C5, 0x26CE, 0x26D4, 0x26EA, 0x26F2...0x26F3, 0x26F5, 0x26FA, 0x26FD, 0x2705,
            0x270A...0x270B, 0x2728, 0x274C, 0x274E, 0x2753...0x2755, 0x2757, 0x2795...0x2797, 0x27B0, 0x27BF,
            0x2B1B...0x2B1C, 0x2B50, 0x2B55, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F004, 0x1F0CF, 0x1F18E,
            0x1F191...0x1F19A, 0x1F1E6...0x1F202, 0x1F210...0x1F265, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
            0x1F7E0...0x1F7F0, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}

extension Int {
    /// The number as a person reads it: `99,997`.
    var grouped: String {
        let digits = Array(String(magnitude))
        let groups = stride(from: digits.count, to: 0, by: -3).map { String(digits[Swift.max(0, $0 - 3)..<$0]) }
        return (self < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
    }

    /// The number with its noun: `1 account`, `2 accounts`, `100,000 accounts`.
    func counting(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }
}
