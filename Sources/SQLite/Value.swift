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
