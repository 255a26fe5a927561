/// What a column of a database can store.
package enum Value: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    package static func integer(_ value: Int) -> Value { .integer(Int64(value)) }
    package static func optional(_ value: Int64?) -> Value { value.map(Value.integer) ?? .null }
    package static func optional(_ value: String?) -> Value { value.map(Value.text) ?? .null }
    package static func optional(_ value: [UInt8]?) -> Value { value.map(Value.blob) ?? .null }
}

extension [Value] {
    /// The size of all texts and blobs together.
    ///
    /// One call for all of them: a call for each, from another module, would copy each.
    package var byteCount: Int { reduce(0) { $0 + $1.byteCount } }
}

extension Value {
    /// The size of a text or blob.
    package var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        case .null, .integer: 0
        }
    }

    /// Copies a text or blob to `place`, which has room for it, and returns its size.
    package func write(to place: UnsafeMutableRawBufferPointer) -> Int {
        switch self {
        case .text(let text): place.copyBytes(from: text.utf8)
        case .blob(let bytes): place.copyBytes(from: bytes)
        case .null, .integer: break
        }
        return byteCount
    }
}

/// What a value is, as it stands before the value where values are sealed or hashed: the numbers never change.
package enum ValueKind: UInt8, Sendable {
    case integer = 1
    case text = 3
    case blob = 4
    case null = 5
}
