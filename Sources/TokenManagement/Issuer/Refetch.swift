import OAuth

/// What became of the last time that a document was fetched anew, as the store keeps it.
enum Refetch: String {
    case underWay
    case done
    case failed

    init?(_ document: JSONValue.Object?) {
        guard let state = document?["state"]?.text.flatMap(Self.init) else { return nil }
        self = state
    }

    /// The mark of one that begins, like no other's.
    static func claim() -> JSONValue.Object {
        var document = underWay.document
        document["claim"] = .string("\(UInt64.random(in: 0 ... .max))")
        return document
    }

    var document: JSONValue.Object { JSONValue.Object([("state", .string(rawValue))]) }
}
