import OAuth

/// Short forms for the documents that the provider writes and reads.
extension JSON {
    /// An object; its members are in order of their names, so that one value has one text.
    init(_ members: [String: JSON]) {
        self = .object(.init(members.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }))
    }

    init(parsing bytes: [UInt8]) throws(JSONError) {
        self = try bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try JSON(parsing: bytes) }
        }.get()
    }

    static func integer(_ value: Int) -> JSON { .number(String(value)) }

    subscript(name: String) -> JSON? { object?[name] }

    /// The members of an object by name; of a repeated name, the last.
    var members: [String: JSON]? {
        object.map { Dictionary($0.members.map { ($0.name, $0.value) }) { _, last in last } }
    }

    var encoded: [UInt8] { Array(serialized.utf8) }
}
