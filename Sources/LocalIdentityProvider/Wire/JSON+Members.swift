import OAuth

/// Short forms for the documents that the provider writes and reads.
extension JSONValue {
    /// An object; its members are in order of their names, so that one value has one text.
    init(_ members: [String: JSONValue]) {
        self = .object(.init(members.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }))
    }

    init(parsing bytes: [UInt8]) throws(JSONError) {
        self = try bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try JSONValue(parsing: bytes) }
        }.get()
    }

    static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

    subscript(name: String) -> JSONValue? { object?[name] }

    /// The members of an object by name; of a repeated name, the last.
    var members: [String: JSONValue]? {
        object.map { Dictionary($0.members.map { ($0.name, $0.value) }) { _, last in last } }
    }

    var encoded: [UInt8] { Array(serialized.utf8) }
}
