/// A JSON value, without loss: numbers keep their text and objects the order of their members.
///
/// `JSONDecoder` would round numbers and drop unknown fields; a token cache must return both unchanged.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// A number as it was written, such as `1.50` or `1e400`.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(Object)

    /// The members of an object, in order.
    public struct Object: Sendable {
        /// Names and values, in their order.
        public private(set) var members: [(name: String, value: JSONValue)]

        /// An object with these members, in this order.
        public init(_ members: [(name: String, value: JSONValue)] = []) { self.members = members }

        /// The value of the last member called `name`, the one most readers see when a name is repeated.
        ///
        /// Names are compared byte by byte: two spellings of a letter make two names.
        public subscript(name: String) -> JSONValue? {
            get { lastIndex(of: name).map { members[$0].value } }
            set {
                let index = lastIndex(of: name)
                if let newValue, let index {
                    members[index].value = newValue
                } else if let newValue {
                    members.append((name, newValue))
                } else if let index {
                    members.remove(at: index)
                    if lastIndex(of: name) != nil { members.removeAll { $0.name.hasSameBytes(as: name) } }
                }
            }
        }

        private func lastIndex(of name: String) -> Int? {
            // By index, and first by count: to hand a member over is to copy it.
            let count = name.utf8.count
            return members.indices.last {
                members[$0].name.utf8.count == count && members[$0].name.hasSameBytes(as: name)
            }
        }

        /// Whether it has no member.
        public var isEmpty: Bool { members.isEmpty }
    }
}

extension JSONValue {
    /// The text of a string.
    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The object that this value is; nil if it is something else.
    public var object: Object? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The elements of the array that this value is; nil if it is something else.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The value as whole seconds: a number, or text that holds one; fractions are cut off.
    ///
    /// A number beyond any calendar is not a time, so that sums of times cannot overflow.
    package var seconds: Int64? { numberText.flatMap { Int64(secondsIn: $0) } }

    /// The value as a length of time, in whole seconds; one beyond any calendar is as long as one can be.
    package var duration: Duration? {
        numberText.flatMap { Int64(secondsIn: $0, isLength: true) }.map { .seconds($0) }
    }

    /// The text of a number, or a text that may hold one.
    private var numberText: String? {
        switch self {
        case .number(let text), .string(let text): text
        default: nil
        }
    }

    /// What the value is, for a message: `a list`, `text`.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension JSONValue.Object: Hashable {
    /// Whether both have the same names with the same values; the order of members carries no meaning in JSON.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        guard lhs.members.count == rhs.members.count else { return false }
        let isSameOrder = zip(lhs.members, rhs.members).allSatisfy { left, right in
            left.name.hasSameBytes(as: right.name) && left.value == right.value
        }
        return isSameOrder || lhs.values == rhs.values
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(values) }

    private var values: [ExactText: JSONValue] { Dictionary(members.map { (ExactText($0.name), $0.value) }) { $1 } }
}

extension JSONValue: Hashable {
    /// Whether both say the same; texts do where their bytes are the same, as two spellings of a letter are two texts
    /// to who compares them elsewhere ([RFC 8259 §8.3](https://www.rfc-editor.org/rfc/rfc8259#section-8.3)).
    public static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)), (.string(let left), .string(let right)):
            left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension Int64 {
    /// Whole seconds from decimal text such as `1790003600` or `1790000000.125`; nil if it is not a number in range.
    ///
    /// Of a length of time the greatest in range stands for all beyond it: some issuers mean by them that it never ends.
    fileprivate init?(secondsIn text: String, isLength: Bool = false) {
        // Decimal digits alone: Swift reads hexadecimal ones too.
        guard !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }), let number = Double(text),
            number.isFinite
        else { return nil }
        let limit = 9e15
        guard abs(number) < limit else {
            guard isLength, number > 0 else { return nil }
            self = Int64(limit) - 1
            return
        }
        self = Int64(text) ?? Int64(number)
    }
}

extension JSONValue {
    /// Reads one JSON document.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var reader = JSONReader(bytes)
        self = try reader.value()
        try reader.end()
    }

    /// Reads as much of one JSON document as possible: a fault in one value does not affect the others.
    ///
    /// Half of a character, and bytes that are not UTF-8, become U+FFFD; values that JSON does not have become null.
    /// One that `forgives` also takes what other readers refuse, such as a line break in a text, a comma too many, or
    /// what stands behind the document.
    package init(mending bytes: UnsafeRawBufferPointer, forgives: Bool = false) throws(JSONError) {
        do {
            self = try Self.mended(bytes, forgives)
        } catch {
            guard String(validating: bytes, as: UTF8.self) == nil else { throw error }
            self = try Self.mended(String(decoding: bytes, as: UTF8.self), forgives)
        }
    }

    private static func mended(_ bytes: UnsafeRawBufferPointer, _ forgives: Bool) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes, mends: true, forgives: forgives)
        let value = try reader.value()
        if !forgives { try reader.end() }
        return value
    }

    /// Reads one JSON document as well as it can be read.
    package static func mended(_ text: String) throws(JSONError) -> JSONValue { try mended(text, false) }

    private static func mended(_ text: String, _ forgives: Bool) throws(JSONError) -> JSONValue {
        var text = text
        return try text.withUTF8 { bytes in
            Result { () throws(JSONError) in try mended(UnsafeRawBufferPointer(bytes), forgives) }
        }.get()
    }

    /// Reads one JSON document.
    public init(parsing text: String) throws(JSONError) {
        var text = text
        self = try text.withUTF8 { bytes in
            Result { () throws(JSONError) in try JSONValue(parsing: UnsafeRawBufferPointer(bytes)) }
        }.get()
    }

    /// The value as JSON, on one line.
    public var serialized: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as JSON with the members of every object in order of their names, for hashing and comparing.
    package var canonical: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.canonical))
        case .object(let object):
            .object(
                .init(
                    object.members.map { ($0.name, $0.value.canonical) }
                        .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
                )
            )
        default: self
        }
    }

    /// Appends the value as JSON, on one line.
    package func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): bytes.append(contentsOf: text.utf8)
        case .string(let text): JSONValue.write(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONValue.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Appends `text` in quotes.
    ///
    /// What needs no escape is copied as a whole: most of an export is tokens.
    private static func write(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            let text = UnsafeRawBufferPointer(text)
            var (written, bits) = (0, UInt64(0))
            while true {
                let end = text.endOfPlainText(from: written, bits: &bits)
                bytes.append(contentsOf: text[written..<end])
                guard end < text.count else { return }
                bytes.append(contentsOf: escape(text[end]).utf8)
                written = end + 1
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// How a control character, a quotation mark or a backslash is written.
    private static func escape(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case 0x0A: "\\n"
        case 0x0D: "\\r"
        case 0x09: "\\t"
        default: (byte < 16 ? "\\u000" : "\\u00") + String(byte, radix: 16)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .number(String(value)) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral {
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(.init(elements.map { (name: $0.0, value: $0.1) }))
    }
    public init(nilLiteral: ()) { self = .null }
}
