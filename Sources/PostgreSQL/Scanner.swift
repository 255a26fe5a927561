/// Reads SQL as far as it takes to leave quoted text and comments alone.
package enum Scanner {
    /// The text with SQLite's numbered parameters (`?1`) as PostgreSQL's (`$1`), which are counted on from `offset`.
    package static func numbered(_ sql: String, after offset: Int = 0) -> String {
        let bytes = Array(sql.utf8)
        var numbered: [UInt8] = []
        numbered.reserveCapacity(bytes.count + 16)
        var index = 0
        while index < bytes.count {
            let start = index
            if let end = endOfQuotation(in: bytes, at: index) {
                index = end
            } else if bytes[index] == UInt8(ascii: "?"), index + 1 < bytes.count, isDigit(bytes[index + 1]) {
                index = bytes[(index + 1)...].firstIndex { !isDigit($0) } ?? bytes.count
                let number = String(decoding: bytes[start + 1..<index], as: UTF8.self)
                numbered += Array("$\(Int(number).map { "\($0 + offset)" } ?? number)".utf8)
                continue
            } else {
                index += 1
            }
            numbered += bytes[start..<index]
        }
        return String(decoding: numbered, as: UTF8.self)
    }

    /// The statements of a script, without the semicolons between them.
    package static func statements(of script: String) -> [String] {
        let bytes = Array(script.utf8)
        var statements: [String] = []
        var (start, index) = (0, 0)
        var isEmpty = true
        func end(_ end: Int) {
            if !isEmpty { statements.append(String(decoding: bytes[start..<end], as: UTF8.self)) }
            isEmpty = true
        }
        while index < bytes.count {
            if let next = endOfQuotation(in: bytes, at: index) {
                isEmpty = isEmpty && isComment(bytes, index)
                index = next
                continue
            }
            if bytes[index] == UInt8(ascii: ";") {
                end(index)
                start = index + 1
            } else if !isSpace(bytes[index]) {
                isEmpty = false
            }
            index += 1
        }
        end(bytes.count)
        return statements
    }

    /// Where the quoted text, quoted name or comment that starts at `index` ends; nil if none starts there.
    private static func endOfQuotation(in bytes: [UInt8], at index: Int) -> Int? {
        switch bytes[index] {
        case UInt8(ascii: "'"): endOfQuoted(bytes, index, escapes: isEscapeString(bytes, index))
        case UInt8(ascii: "\""): endOfQuoted(bytes, index, escapes: false)
        case UInt8(ascii: "-") where follows(bytes, index, "--"): bytes[index...].firstIndex(of: 0x0A) ?? bytes.count
        case UInt8(ascii: "/") where follows(bytes, index, "/*"): endOfBlock(bytes, index)
        case UInt8(ascii: "$"): endOfDollarQuoted(bytes, index)
        default: nil
        }
    }

    private static func isComment(_ bytes: [UInt8], _ index: Int) -> Bool {
        bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "/")
    }

    /// A doubled quote ends one text and starts the next, which comes to the same.
    private static func endOfQuoted(_ bytes: [UInt8], _ start: Int, escapes: Bool) -> Int {
        var index = start + 1
        while index < bytes.count {
            if bytes[index] == bytes[start] { return index + 1 }
            index += escapes && bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return bytes.count
    }

    /// Comments of PostgreSQL nest.
    private static func endOfBlock(_ bytes: [UInt8], _ start: Int) -> Int {
        var (index, depth) = (start, 0)
        while index < bytes.count {
            if follows(bytes, index, "/*") {
                depth += 1
                index += 2
            } else if follows(bytes, index, "*/") {
                depth -= 1
                index += 2
                if depth == 0 { return index }
            } else {
                index += 1
            }
        }
        return bytes.count
    }

    /// `$tag$ … $tag$`; the tag may be empty, and is no number, which would be a parameter.
    private static func endOfDollarQuoted(_ bytes: [UInt8], _ start: Int) -> Int? {
        if start > 0, isName(bytes[start - 1]) { return nil }
        var index = start + 1
        while index < bytes.count, isName(bytes[index]) && bytes[index] != UInt8(ascii: "$") { index += 1 }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "$"), !isDigit(bytes[start + 1]) else { return nil }
        let tag = Array(bytes[start...index])
        index += 1
        while index + tag.count <= bytes.count {
            if bytes[index] == tag[0], Array(bytes[index..<index + tag.count]) == tag { return index + tag.count }
            index += 1
        }
        return bytes.count
    }

    /// Whether the quote at `index` belongs to an `E'…'`, where a backslash keeps the next quote from ending it.
    private static func isEscapeString(_ bytes: [UInt8], _ index: Int) -> Bool {
        guard index > 0, bytes[index - 1] | 0x20 == UInt8(ascii: "e") else { return false }
        return index == 1 || !isName(bytes[index - 2])
    }

    private static func follows(_ bytes: [UInt8], _ index: Int, _ text: StaticString) -> Bool {
        index + 1 < bytes.count && bytes[index] == text.utf8Start[0] && bytes[index + 1] == text.utf8Start[1]
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Whether a byte can belong to a name that is not quoted.
    private static func isName(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "$") || byte >= 0x80
    }
}
