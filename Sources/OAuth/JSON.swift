/// A JSON value, without loss: numbers keep their text and objects the order of their members.
///
/// `JSONDecoder` would round numbers and forget fields nobody asked for; a token cache must return both unchanged.
public enum JSON: Sendable {
    case null
    case bool(Bool)
    /// A number as it was written, such as `1.50` or `1e400`.
    case number(String)
    case string(String)
    case array([JSON])
    case object(Object)

    /// The members of an object, in order.
    public struct Object: Sendable {
        public private(set) var members: [(name: String, value: JSON)]

        public init(_ members: [(name: String, value: JSON)] = []) { self.members = members }

        /// The value of the last member called `name`, the one most readers see when a name is repeated.
        public subscript(name: String) -> JSON? {
            get { members.last { $0.name == name }?.value }
            set {
                if let newValue, let index = members.lastIndex(where: { $0.name == name }) {
                    members[index].value = newValue
                } else if let newValue {
                    members.append((name, newValue))
                } else {
                    members.removeAll { $0.name == name }
                }
            }
        }

        public var isEmpty: Bool { members.isEmpty }
    }
}

extension JSON {
    /// The text of a string.
    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var object: Object? {
        if case .object(let object) = self { object } else { nil }
    }

    public var array: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The value as whole seconds: a number, or text that holds one; fractions are cut off.
    ///
    /// A number beyond any calendar is none, so that sums of times cannot overflow.
    public var seconds: Int64? {
        switch self {
        case .number(let text), .string(let text): Int64(secondsIn: text)
        default: nil
        }
    }

    /// What the value is, for a message: `a list`, `text`.
    public var kind: String {
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

extension JSON.Object: Hashable {
    /// Whether both have the same names with the same values; the order of members carries no meaning in JSON.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        guard lhs.members.count == rhs.members.count else { return false }
        if zip(lhs.members, rhs.members).allSatisfy({ $0.name == $1.name && $0.value == $1.value }) { return true }
        let right = Dictionary(rhs.members.map { ($0.name, $0.value) }) { $1 }
        let left = Dictionary(lhs.members.map { ($0.name, $0.value) }) { $1 }
        return left == right
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(Dictionary(members.map { ($0.name, $0.value) }) { $1 })
    }
}

extension JSON: Hashable {}

extension Int64 {
    /// Whole seconds from decimal text such as `1790003600` or `1790000000.125`; nil if it is no number in range.
    fileprivate init?(secondsIn text: String) {
        guard let number = Double(text), abs(number) < 9e15 else { return nil }
        self = Int64(text) ?? Int64(number)
    }
}
