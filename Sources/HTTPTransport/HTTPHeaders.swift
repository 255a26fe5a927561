/// The header fields of a message, in order; names are compared without regard to case.
public struct HTTPHeaders: Sendable {
    public private(set) var fields: [(name: String, value: String)]

    public init(_ fields: [(name: String, value: String)] = []) { self.fields = fields }

    /// The first value of a field; setting one replaces every value the field had.
    public subscript(name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            fields.removeAll { Self.isSame($0.name, name) }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    /// Every value of a field.
    public func values(of name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.lowercased() == right.lowercased()
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { (name: $0.0, value: $0.1) })
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomReflectable {
    /// The names alone: a value may be a token or a cookie.
    public var description: String { fields.map(\.name).joined(separator: ", ") }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
