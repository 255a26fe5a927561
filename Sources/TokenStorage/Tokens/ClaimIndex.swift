import OAuth
import Sealing

/// Keyed hashes of claim names and values, by which accounts are found without opening their ID tokens.
struct ClaimIndex {
    struct Entry: Hashable {
        let name: [UInt8]
        let value: [UInt8]

        func isBefore(_ other: Entry) -> Bool {
            name == other.name
                ? value.lexicographicallyPrecedes(other.value) : name.lexicographicallyPrecedes(other.name)
        }
    }

    /// Claims that differ in every token and that no application looks for.
    ///
    /// Indexing them would rewrite the index on every refresh. A question about one of them is answered by opening the
    /// tokens.
    private static let unindexed = [
        "aio", "at_hash", "auth_time", "c_hash", "exp", "iat", "jti", "nbf", "nonce", "rat", "rh", "s_hash", "uti",
    ]
    private static let unindexedNames = Set(unindexed.map(ExactText.init))

    /// Longer paths have no entries: each member's would cost as much as its whole path.
    private static let longestPath = 1_024

    /// Whether these are the entries of claims; an earlier version had some of longer paths as well.
    func isMade(_ entries: Set<Entry>, of claims: Claims) -> Bool {
        let wanted = Set(self.entries(of: claims))
        return entries == wanted
            || entries.isSuperset(of: wanted) && entries.isSubset(of: self.entries(of: claims, longest: .max))
    }

    /// Whether a name, or the claim that a path leads into, has no entries.
    static func isUnindexed(_ path: String) -> Bool {
        path.utf8.count > longestPath || unindexedNames.contains(ExactText(path))
            || unindexed.contains { path.utf8.starts(with: ($0 + ".").utf8) }
    }

    private let sealer: Sealer
    private let names: [ExactText: [UInt8]]

    init(_ sealer: Sealer) { (self.sealer, names) = (sealer, sealer.knownClaimNameHashes) }

    /// One entry for every value that a claim, or a member of one, has; one for its presence where it has none.
    ///
    /// Each is there once, in the order of the table's key: so each row goes behind the one before.
    func entries(of claims: Claims, longest: Int = Self.longestPath) -> [Entry] {
        var entries: [Entry] = []
        for (name, value) in claims.payload.members
        where name.utf8.count <= longest && !Self.unindexedNames.contains(ExactText(name)) {
            add(value, at: name, longest, to: &entries)
        }
        entries.sort { $0.isBefore($1) }
        var unique: [Entry] = []
        for entry in entries where entry != unique.last { unique.append(entry) }
        return unique
    }

    func name(_ path: String) -> [UInt8] { names[ExactText(path)] ?? sealer.claimNameHash(path) }

    func value(_ path: String, _ value: String) -> [UInt8] { sealer.claimValueHash(name: path, value: value.folded) }

    private func add(_ value: JSONValue, at path: String, _ longest: Int, to entries: inout [Entry]) {
        value.forEachElement { element in
            entries.append(Entry(name: name(path), value: self.value(path, element.indexedText)))
            for (name, value) in element.object?.members ?? []
            where path.utf8.count + 1 + name.utf8.count <= longest {
                add(value, at: path + "." + name, longest, to: &entries)
            }
        }
    }
}

extension Claims {
    /// The values that a name leads to, or names with dots between them: into objects, and into each element of a list.
    ///
    /// What the index finds by its entries, an ID token answers by these, and both mean the same by a path.
    func values(at path: String) -> [JSONValue] { payload.values(at: path.utf8[...]) }
}

extension JSONValue.Object {
    fileprivate func values(at path: Substring.UTF8View) -> [JSONValue] {
        var values: [JSONValue] = []
        for (name, value) in members where path.starts(with: name.utf8) {
            let rest = path.dropFirst(name.utf8.count)
            if rest.isEmpty {
                value.forEachElement { values.append($0) }
            } else if rest.first == UInt8(ascii: ".") {
                value.forEachElement { values += $0.object?.values(at: rest.dropFirst()) ?? [] }
            }
        }
        return values
    }
}

extension JSONValue {
    /// Calls `body` with the elements of a list, and of lists in it; a value that is not a list, or an empty one, is its
    /// only element.
    fileprivate func forEachElement(_ body: (JSONValue) -> Void) {
        guard let array, !array.isEmpty else { return body(self) }
        for element in array { element.forEachElement(body) }
    }

    /// The text that a claim's value is looked for by.
    var claimText: String { text ?? serialized }

    /// The text that its entry in the index has: of an object what is in it has entries of its own.
    var indexedText: String {
        if let object, !object.isEmpty { return "{}" }
        return claimText
    }
}
