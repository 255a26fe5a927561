import NativeAuthentication

extension RequiredAttribute {
    /// What a value has to look like, for a person; nil: any text.
    var format: String? {
        if let regex { return Self.words(for: regex) ?? "matching \(regex)" }
        switch type.lowercased() {
        case "integer", "int": return "a whole number"
        case "boolean", "bool": return "true or false"
        default: return nil
        }
    }

    /// A pattern such as `^[A-Z ]{2,60}$` in words; nil for any other.
    private static func words(for regex: String) -> String? {
        guard let match = regex.wholeMatch(of: /\^?\[([^\]\[\\^]+)\](?:\{(\d+)(,?)(\d*)\}|([+*]))\$?/) else {
            return nil
        }
        var rest = match.1[...]
        var members: [String] = []
        while let first = rest.popFirst() {
            if rest.first == "-", rest.count > 1, let last = rest.dropFirst().first {
                members.append("\(first)-\(last)")
                rest = rest.dropFirst(2)
            } else {
                members.append(first == " " ? "space" : String(first))
            }
        }
        return length(match.2, match.3, match.4) + members.joined(separator: ", ")
    }

    private static func length(_ least: Substring?, _ comma: Substring?, _ most: Substring?) -> String {
        guard let least else { return "only " }
        guard comma == "," else { return "\(least) of " }
        return most.map { $0.isEmpty ? "\(least) or more of " : "\(least) to \($0) of " } ?? ""
    }
}
