import OAuth
import TokenStorage

/// The right to spend the refresh tokens of an account that a client may use, which one caller at a time has.
///
/// The clients of a family share its tokens, and so a lock. It is taken after a client's own, never before, so that no two
/// callers wait for each other.
struct RefreshTurn: Sendable {
    private let account: Account.ID
    private let path: StorePath
    private var locks: [RefreshLock]
    private var families: Set<String> = []

    /// Whether another caller had the turn first, who may have refreshed meanwhile.
    var wasWaitedFor: Bool { locks.contains(where: \.wasWaitedFor) }

    init(of account: Account.ID, client: String, at path: StorePath) async throws {
        self.account = account
        self.path = path
        locks = [
            try await .acquire(account, client: client, of: path, patience: TokenManagerOptions.patience)
        ]
    }

    /// Takes what else is needed to spend any of `candidates`.
    ///
    /// - Returns: whether there was something to take; another client may have spent them meanwhile.
    mutating func extend(to candidates: [RefreshCandidate]) async throws -> Bool {
        let missing = Set(candidates.compactMap(\.token.familyID)).subtracting(families)
        for family in missing.sorted() {
            locks.append(
                try await .acquire(account, family: family, of: path, patience: TokenManagerOptions.patience)
            )
            families.insert(family)
        }
        return !missing.isEmpty
    }
}
