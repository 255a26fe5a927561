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

    /// The name of the last member as it was written, with its quotes, if it was mended.
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
        guard current == UInt8(ascii: "\"") else { throw error("a member needs a name in quotes") }
        let (start, before) = (offset, oddity)
        oddity = nil
        let name = try string()
        oddName = oddity == nil ? nil : String(decoding: bytes[start..<offset], as: UTF8.self)
        oddity = oddity ?? before
        skipWhitespace()
        guard take(":") else { throw error("a colon is missing") }
        return name
    }

    /// Checks and passes over the next value, however deeply it is nested.
    package mutating func skipValue() throws(JSONError) {
        var open: [Unicode.Scalar] = []
        repeat {
            skipWhitespace()
            if take("{") {
                open.append("}")
                if peek() != UInt8(ascii: "}") {
                    _ = try name()
                    continue
                }
            } else if take("[") {
                open.append("]")
                if peek() != UInt8(ascii: "]") { continue }
            } else {
                _ = try value()
            }
            try skipEnds(&open)
        } while !open.isEmpty
    }

    /// Skips the characters after a value: the closing brackets, up to the place of the next value.
    private mutating func skipEnds(_ open: inout [Unicode.Scalar]) throws(JSONError) {
        while let close = open.last {
            skipWhitespace()
            if take(",") {
                skipWhitespace()
                if close == "}" { _ = try name() }
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
        offset += 1
        let start = offset
        var seen: UInt8 = 0
        while offset < bytes.count {
            seen |= bytes[offset]
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                let content = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
                // ASCII needs no validation, which for short texts is most of the work.
                let text =
                    seen < 0x80
                    ? String(decoding: content, as: UTF8.self) : String(validating: content, as: UTF8.self)
                guard let text else { throw error("text is not valid UTF-8") }
                offset += 1
                return text
            case UInt8(ascii: "\\"):
                var escaped = JSONEscapes(bytes, start: start, backslash: offset, mends: mends, forgives: forgives)
                let text = try escaped.unescaped()
                offset = escaped.offset
                if escaped.isMended { oddity = "it holds half of a character" }
                return text
            case 0..<0x20 where !forgives: throw error("text holds a control character")
            default: offset += 1
            }
        }
        throw error("the document ends inside text")
    }
}
