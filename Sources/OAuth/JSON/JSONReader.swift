/// Reads JSON from borrowed memory, a value at a time, so that a large document never has to exist as a tree.
package struct JSONReader {
    private let bytes: UnsafeRawBufferPointer
    package private(set) var offset: Int
    private var depth = 0

    /// Whether ``value()`` mends what programs write that RFC 8259 does not know, instead of refusing it.
    private let mends: Bool

    /// Whether it also takes what no other reader takes, such as a line break in a text: a token that an issuer has
    /// rotated is in no other answer.
    private let forgives: Bool

    /// What was mended last; the value is not quite what was written then.
    package private(set) var oddity: String?

    /// The last name that ``members(_:)`` told, as it was written, with its quotes, if it was mended.
    package private(set) var oddName: String?

    /// Nesting beyond this is refused rather than risking the stack.
    private static let depthLimit = 256

    package init(
        _ bytes: UnsafeRawBufferPointer,
        from offset: Int = 0,
        mends: Bool = false,
        forgives: Bool = false
    ) {
        self.bytes = bytes
        self.offset = offset
        self.mends = mends
        self.forgives = forgives
    }

    /// Where the document in `bytes` begins: behind a UTF-8 byte order mark, if there is one, else at once.
    package static func start(of bytes: UnsafeRawBufferPointer) -> Int {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return bytes.starts(with: mark) ? mark.count : 0
    }

    /// The next value, whole.
    package mutating func value() throws(JSONError) -> JSONValue {
        skipWhitespace()
        switch current {
        case UInt8(ascii: "{") where isTooDeep, UInt8(ascii: "[") where isTooDeep:
            oddity = "it is nested too deeply"
            try skipValue()
            return .null
        case UInt8(ascii: "{"):
            var object: [(name: String, value: JSONValue)] = []
            try members { name, reader throws(JSONError) in object.append((name, try reader.value())) }
            return .object(.init(object))
        case UInt8(ascii: "["):
            var array: [JSONValue] = []
            try elements { reader throws(JSONError) in array.append(try reader.value()) }
            return .array(array)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default:
            if takeNotANumber() { return .null }
            return .number(try number())
        }
    }

    /// A value that is mended is kept inside another object, which has to be readable too.
    private var isTooDeep: Bool { mends && depth == Self.depthLimit - 1 }

    /// Passes over one of the words that Python and others write for numbers that JSON does not have.
    private mutating func takeNotANumber() -> Bool {
        guard mends, let word = Self.notNumbers.first(where: { starts(with: $0) }) else { return false }
        oddity = "it holds \(word), which JSON does not have"
        offset += word.utf8CodeUnitCount
        return true
    }

    private static let notNumbers: [StaticString] = ["NaN", "Infinity", "-Infinity"]

    private func starts(with word: StaticString) -> Bool {
        bytes[offset...].prefix(word.utf8CodeUnitCount)
            .elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    /// Calls `body` with the name of each member of the object that comes next; `body` reads the member's value.
    package mutating func members(
        _ body: (String, inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        try sequence(open: "{", close: "}") { reader throws(JSONError) in
            let name = try reader.name()
            try body(name, &reader)
        }
    }

    /// Calls `body` before each element of the list that comes next; `body` reads the element.
    private mutating func elements(_ body: (inout JSONReader) throws(JSONError) -> Void) throws(JSONError) {
        try sequence(open: "[", close: "]", body)
    }

    private mutating func name() throws(JSONError) -> String {
        try startName()
        let (start, before) = (offset, oddity)
        oddity = nil
        let name = try string()
        oddName = oddity == nil ? nil : String(decoding: bytes[start..<offset], as: UTF8.self)
        oddity = oddity ?? before
        try endName()
        return name
    }

    private func startName() throws(JSONError) {
        guard current == UInt8(ascii: "\"") else { throw error("a member needs a name in quotes") }
    }

    private mutating func endName() throws(JSONError) {
        skipWhitespace()
        guard take(":") else { throw error("a colon is missing") }
    }

    /// Checks and passes over the next value, however deeply it is nested.
    package mutating func skipValue() throws(JSONError) {
        var open: [Unicode.Scalar] = []
        repeat {
            skipWhitespace()
            if take("{") {
                open.append("}")
                if peek() != UInt8(ascii: "}") {
                    try skipName()
                    continue
                }
            } else if take("[") {
                open.append("]")
                if peek() != UInt8(ascii: "]") { continue }
            } else if current == UInt8(ascii: "\"") {
                try skipString()
            } else {
                _ = try value()
            }
            try skipEnds(&open)
        } while !open.isEmpty
    }

    private mutating func skipName() throws(JSONError) {
        try startName()
        try skipString()
        try endName()
    }

    /// Checks and passes over a text, which is not made if it is ASCII: that takes longer than to look at it.
    private mutating func skipString() throws(JSONError) {
        let start = offset
        if let content = try plainContent(), content.isASCII { return }
        offset = start
        _ = try string()
    }

    /// Skips the characters after a value: the closing brackets, up to the place of the next value.
    private mutating func skipEnds(_ open: inout [Unicode.Scalar]) throws(JSONError) {
        while let close = open.last {
            skipWhitespace()
            if take(",") {
                skipWhitespace()
                if close == "}" { try skipName() }
                return
            }
            guard take(close) else {
                throw error(current == nil ? "the document ends too early" : "a comma is missing")
            }
            open.removeLast()
        }
    }

    /// Requires that nothing but white space is left.
    package mutating func end() throws(JSONError) {
        skipWhitespace()
        guard offset == bytes.count else { throw error("there is more after the end of the document") }
    }

    /// The first byte of the next value, without taking it.
    package mutating func peek() -> UInt8? {
        skipWhitespace()
        return current
    }

    private mutating func sequence(
        open: Unicode.Scalar,
        close: Unicode.Scalar,
        _ element: (inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        skipWhitespace()
        guard take(open) else { throw error("'\(open)' is missing") }
        guard depth < Self.depthLimit else { throw error("values are nested too deeply") }
        depth += 1
        defer { depth -= 1 }
        skipWhitespace()
        if take(close) { return }
        while true {
            skipWhitespace()
            try element(&self)
            skipWhitespace()
            if take(close) { return }
            guard take(",") else { throw error(current == nil ? "the document ends too early" : "a comma is missing") }
            guard forgives else { continue }
            skipWhitespace()
            if take(close) { return }
        }
    }

    private func error(_ reason: String) -> JSONError { JSONError(reason: reason, offset: offset) }

    private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func skipWhitespace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            default: return
            }
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let end = offset + word.utf8CodeUnitCount
        guard end <= bytes.count else { throw error("the document ends too early") }
        for index in 0..<word.utf8CodeUnitCount where bytes[offset + index] != word.utf8Start[index] {
            throw error("a value is expected")
        }
        offset = end
        return value
    }

    private mutating func number() throws(JSONError) -> String {
        let start = offset
        _ = take("-")
        if !take("0") || forgives && isAtDigit { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private var isAtDigit: Bool { current.map { $0 &- UInt8(ascii: "0") < 10 } ?? false }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while isAtDigit { offset += 1 }
        guard offset > start else {
            throw error(current == nil ? "the document ends too early" : "a value is expected")
        }
    }

    private mutating func string() throws(JSONError) -> String {
        let start = offset + 1
        if let content = try plainContent() {
            // ASCII needs no validation, which for short texts is most of the work.
            let text =
                content.isASCII
                ? String(decoding: content.bytes, as: UTF8.self) : String(validating: content.bytes, as: UTF8.self)
            guard let text else {
                // At its last quote, as where there is an escape in it.
                throw JSONError(reason: "text is not valid UTF-8", offset: offset - 1)
            }
            return text
        }
        var escaped = JSONEscapes(bytes, start: start, backslash: offset, mends: mends, forgives: forgives)
        let text = try escaped.unescaped()
        offset = escaped.offset
        if escaped.isMended { oddity = "it holds half of a character" }
        return text
    }

    /// What is between the quotes of the text that comes next, which is passed; nil at the first escape in it.
    private mutating func plainContent() throws(JSONError) -> (bytes: UnsafeRawBufferPointer, isASCII: Bool)? {
        offset += 1
        let start = offset
        var seen: UInt64 = 0
        while true {
            offset = bytes.endOfPlainText(from: offset, bits: &seen)
            switch current {
            case nil: throw error("the document ends inside text")
            case UInt8(ascii: "\""):
                let content = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
                offset += 1
                return (content, seen.areASCII)
            case UInt8(ascii: "\\"): return nil
            default:
                guard forgives else { throw error("text holds a control character") }
                offset += 1
            }
        }
    }
}
