import OAuth

extension JSON.Object {
    /// Attributes as MSAL takes them; what JSON does not know becomes a number that is none, and is refused as such.
    init(attributes: [String: Any]) {
        self.init(attributes.sorted { $0.key < $1.key }.map { (name: $0.key, value: JSON(attribute: $0.value)) })
    }

    /// The members as MSAL gives claims: texts, numbers, truth values, lists and dictionaries.
    var dictionary: [String: Any] { Dictionary(members.map { ($0.name, $0.value.any) }) { $1 } }
}

extension JSON {
    fileprivate init(attribute: Any) {
        self =
            switch attribute {
            case let text as String: .string(text)
            case let truth as Bool: .bool(truth)
            case let number as any BinaryInteger: .number("\(number)")
            case let number as Double: .number("\(number)")
            case let list as [Any]: .array(list.map { JSON(attribute: $0) })
            case let members as [String: Any]: .object(Object(attributes: members))
            default: .number("no JSON")
            }
    }

    fileprivate var any: Any {
        switch self {
        case .null: Any?.none as Any
        case .bool(let truth): truth
        case .number(let text): Int(text) as Any? ?? Double(text) as Any? ?? text
        case .string(let text): text
        case .array(let elements): elements.map(\.any)
        case .object(let object): object.dictionary
        }
    }
}
