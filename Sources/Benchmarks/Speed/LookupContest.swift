import TokenStorage

/// The store and the floor looking up tokens in one file: those of even accounts are the store's, of odd the floor's.
struct LookupContest {
    private let store: TokenStore
    private let floor: Floor
    private let queries: [Box]
    private let lookups: [CTexts]

    /// Chooses `samples` accounts for each side out of `accounts`.
    init(_ store: TokenStore, accounts: Int, samples: Int = 400) throws {
        self.store = store
        floor = try Floor(store.path)
        var random = RandomText(seed: 42)
        let pairs = (0..<samples).map { _ in 2 * Int.random(in: 0..<accounts / 2, using: &random) }
        queries = pairs.map { Box(SampleAccount($0).query($0 / 2 % 5)) }
        lookups = pairs.map { Floor.lookup(of: SampleAccount($0 + 1), $0 / 2 % 5) }
        for pair in Set(pairs) { try floor.adopt(SampleAccount(pair + 1)) }
    }

    /// A query that is passed on, not copied, as a program's own would be.
    private final class Box {
        let query: TokenQuery
        init(_ query: TokenQuery) { self.query = query }
    }

    /// Measures first lookups, which open the sealed value, or repeated ones, which need not.
    func run(rounds: Int, turns: Int, isRepeated: Bool = false) throws -> Contest.Outcome {
        try Contest(rounds: rounds, turns: turns).run(pieces: queries.count) { piece in
            let query = queries[piece % queries.count].query
            guard case .usable = try isRepeated ? store.cachedToken(for: query) : store.storedToken(for: query) else {
                throw BenchFailure("the store does not find a token")
            }
        } floor: { piece in
            try floor.look(lookups[piece % lookups.count])
        }
    }
}
