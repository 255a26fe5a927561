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
    /// Indexing them would rewrite the index on every refresh. A question about one of them is answered by opening the tokens.
    static let unindexed: Set<String> = [
        "aio", "at_hash", "auth_time", "c_hash", "exp", "iat", "jti", "nbf", "nonce", "rat", "rh", "s_hash", "uti",
    ]

    private let sealer: Sealer
    private let names: [String: [UInt8]]

    init(_ sealer: Sealer) { (self.sealer, names) = (sealer, sealer.knownClaimNameHashes) }

    /// One entry for every value that a claim, or a member of one, has; one for its presence where it has none.
    func entries(of claims: Claims) -> [Entry] {
        var entries: [Entry] = []
        for (name, value) in claims.payload.members where !Self.unindexed.contains(name) {
            add(value, at: name, to: &entries)
        }
        return entries
    }

    func name(_ path: String) -> [UInt8] { names[path] ?? sealer.claimNameHash(path) }

    func value(_ path: String, _ value: String) -> [UInt8] { sealer.claimValueHash(name: path, value: value.folded) }

    private func add(_ value: JSONValue, at path: String, to entries: inout [Entry]) {
        switch value {
        case .array(let elements) where !elements.isEmpty:
            for element in elements { add(element, at: path, to: &entries) }
        case .object(let object) where !object.isEmpty:
            entries.append(Entry(name: name(path), value: self.value(path, "{}")))
            for (name, value) in object.members { add(value, at: path + "." + name, to: &entries) }
        default:
            entries.append(Entry(name: name(path), value: self.value(path, value.claimText)))
        }
    }
}

extension JSONValue {
    /// The text that a claim's value is compared by.
    var claimText: String { text ?? serialized }
}
