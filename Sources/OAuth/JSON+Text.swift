extension JSON {
    /// Reads one JSON document.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var reader = JSONReader(bytes)
        self = try reader.value()
        try reader.end()
    }

    /// Reads one JSON document as well as it can be read: what is odd in one value does no harm to the others.
    ///
    /// For half of a character and for bytes that are no UTF-8 there is U+FFFD, for what JSON does not have null.
    package init(mending bytes: UnsafeRawBufferPointer) throws(JSONError) {
        do {
            self = try Self.mended(bytes)
        } catch {
            guard String(validating: bytes, as: UTF8.self) == nil else { throw error }
            self = try Self.mended(String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func mended(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSON {
        var reader = JSONReader(bytes, mends: true)
        let value = try reader.value()
        try reader.end()
        return value
    }

    /// Reads one JSON document as well as it can be read.
    package static func mended(_ text: String) throws(JSONError) -> JSON {
        var text = text
        return try text.withUTF8 { bytes in
            Result { () throws(JSONError) in try mended(UnsafeRawBufferPointer(bytes)) }
        }.get()
    }

    /// Reads one JSON document.
    public init(parsing text: String) throws(JSONError) {
        var text = text
        self = try text.withUTF8 { bytes in
            Result { () throws(JSONError) in try JSON(parsing: UnsafeRawBufferPointer(bytes)) }
        }.get()
    }

    /// The value as JSON, on one line.
    public var serialized: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as JSON with the members of every object in order of their names, for hashing and comparing.
    package var canonical: JSON {
        switch self {
        case .array(let elements): .array(elements.map(\.canonical))
        case .object(let object):
            .object(.init(object.members.map { ($0.name, $0.value.canonical) }.sorted { $0.name < $1.name }))
        default: self
        }
    }

    /// Appends the value as JSON, on one line.
    package func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): bytes.append(contentsOf: text.utf8)
        case .string(let text): JSON.write(text, to: &bytes)
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
                JSON.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Appends `text` in quotes.
    package static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                bytes.append(contentsOf: (byte < 16 ? "\\u000" : "\\u00").utf8)
                bytes.append(contentsOf: String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .number(String(value)) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSON: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral {
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(.init(elements.map { (name: $0.0, value: $0.1) }))
    }
    public init(nilLiteral: ()) { self = .null }
}
