/// What SQLite can store in a column.
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

extension Value {
    /// The size of a text or blob.
    @usableFromInline var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        case .null, .integer: 0
        }
    }

    /// Copies a text or blob to `place`, which has room for it, and returns its size.
    func write(to place: UnsafeMutableRawBufferPointer) -> Int {
        switch self {
        case .text(var text):
            text.withUTF8 { place.copyMemory(from: UnsafeRawBufferPointer($0)) }
        case .blob(let bytes):
            bytes.withUnsafeBytes { place.copyMemory(from: $0) }
        case .null, .integer: break
        }
        return byteCount
    }
}
