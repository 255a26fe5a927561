/// A member that JSON may leave out; it is then what ``Omittable/init()`` makes.
@propertyWrapper
package struct Defaulted<Value: Omittable>: Codable {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension Defaulted: Sendable where Value: Sendable {}

extension KeyedDecodingContainer {
    /// What the synthesized decoding of a ``Defaulted`` member calls.
    package func decode<Value>(_: Defaulted<Value>.Type, forKey key: Key) throws -> Defaulted<Value> {
        Defaulted(wrappedValue: try decodeIfPresent(Value.self, forKey: key) ?? Value())
    }
}
