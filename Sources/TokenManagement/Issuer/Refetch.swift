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

    /// The mark of one that was done, and is not done again before a moment in Unix seconds.
    static func done(until end: Int64) -> JSONValue.Object {
        var document = done.document
        document["until"] = .number("\(end)")
        return document
    }
}

/// What an issuer publishes, as far as it is known now.
package struct FetchedAnew<Document: Sendable>: Sendable {
    package let document: Document

    /// Until when it is not fetched again, in Unix seconds, where it was fetched before this caller asked; the issuer may
    /// publish something else since.
    let end: Int64?

    init(_ document: Document, end: Int64? = nil) { (self.document, self.end) = (document, end) }
}
