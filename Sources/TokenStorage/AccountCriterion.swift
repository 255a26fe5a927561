import OAuth

/// One thing that an account must be; texts are folded.
indirect enum AccountCriterion: Hashable, Sendable {
    case identifier(String)

    /// A home account id letter by letter, tried before a criterion that any spelling meets.
    case exactly(String, AccountCriterion)
    case identifierPrefix(String)
    case username(String)
    case homeAccountID(String)
    case localAccountID(String)
    case userFlow(String)
    case tenant(String)
    case issuer(String)
    case client(String)
    case claim(ClaimCriterion)
    case unusedSince(Int64)
    case expired
}

/// What a claim must be; values are folded.
enum ClaimCriterion: Hashable, Sendable {
    case present(String)
    case equals(String, String)
    case contains(String, String)

    var name: String {
        switch self {
        case .present(let name), .equals(let name, _), .contains(let name, _): name
        }
    }

    /// Whether the blind index answers this; else ID tokens have to be opened.
    var isIndexed: Bool {
        if case .contains = self { return false }
        return !ClaimIndex.unindexed.contains(name)
    }

    func matches(_ claims: Claims) -> Bool {
        guard let value = claims[path: name] else { return false }
        return switch self {
        case .present: true
        case .equals(_, let wanted): value.leaves.contains { $0.claimText.folded == wanted }
        case .contains(_, let part): value.leaves.contains { $0.claimText.folded.contains(part) }
        }
    }
}

extension JSON {
    /// The elements of a list, and of lists in it; a value that is no list is its only element.
    fileprivate var leaves: [JSON] { array?.flatMap(\.leaves) ?? [self] }
}
