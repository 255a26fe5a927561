import OAuth
import TokenStorage

/// The first read in a process: find the row, open the sealed value, build the result.
enum LookupBenchmark: Benchmark {
    static let name = "P2"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = 1_000
        let path = try bench.place("lookup")
        let store = try TokenStore.open(at: path)
        try store.fill(0..<accounts, accessTokens: 5)
        let measurement = try LookupMeasurement(store, accounts: accounts)
        let outcome = try measurement.run(rounds: bench.rounds, turns: bench.scaled(60, quick: 10))
        let work = "lookup in an open store, \(accounts) accounts with 5 tokens for APIs"
        var row = ReportRow(name, work, unit: .microseconds, outcome, floor: "in C", limit: .ratio(1.25))
        row.peers = try MSALPython.figures(bench, "first", unit: .milliseconds)
        add(row)
    }
}

/// The same process asks again for a token that is good, while other processes may have committed.
enum RepeatedLookupBenchmark: Benchmark {
    static let name = "P1"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = 1_000
        let store = try TokenStore.open(at: bench.place("repeated"))
        try store.fill(0..<accounts, accessTokens: 5)
        let measurement = try LookupMeasurement(store, accounts: accounts)
        let turns = bench.scaled(60, quick: 10)
        let outcome = try measurement.run(rounds: bench.rounds, turns: turns, isRepeated: true)
        let work = "lookup of a token that was looked up before"
        var row = ReportRow(
            name,
            work,
            unit: .microseconds,
            outcome,
            floor: "read and open in C",
            limit: .ratio(0.4)
        )
        row.peers = try MSALPython.figures(bench, "repeated", unit: .microseconds)
        add(row)
    }
}

/// The store and the floor looking up tokens in one file: those of even accounts are the store's, of odd the floor's.
struct LookupMeasurement {
    private let store: TokenStore
    private let floor: Baseline
    private let queries: [Box]
    private let lookups: [CTexts]

    /// Chooses `samples` accounts for each side out of `accounts`.
    init(_ store: TokenStore, accounts: Int, samples: Int = 400) throws {
        self.store = store
        floor = try Baseline(store.path)
        var random = RandomText(seed: 42)
        let pairs = (0..<samples).map { _ in 2 * Int.random(in: 0..<accounts / 2, using: &random) }
        queries = pairs.map { Box(SampleAccount($0).query($0 / 2 % 5)) }
        lookups = pairs.map { Baseline.lookup(of: SampleAccount($0 + 1), $0 / 2 % 5) }
        for pair in Set(pairs) { try floor.adopt(SampleAccount(pair + 1)) }
    }

    /// A query that is passed on, not copied, as a program's own would be.
    private final class Box {
        let query: TokenQuery
        init(_ query: TokenQuery) { self.query = query }
    }

    /// Measures first lookups, which open the sealed value, or repeated ones, which need not.
    func run(rounds: Int, turns: Int, isRepeated: Bool = false) throws -> PairedMeasurement.Outcome {
        try PairedMeasurement(rounds: rounds, turns: turns).run(pieces: queries.count) { piece in
            let query = queries[piece % queries.count].query
            guard case .usable = try isRepeated ? store.cachedToken(for: query) : store.storedToken(for: query) else {
                throw BenchFailure("the store does not find a token")
            }
        } floor: { piece in
            try floor.look(lookups[piece % lookups.count])
        }
    }
}

/// Accounts by the value of a claim, out of many.
enum ClaimQueryBenchmark: Benchmark {
    static let name = "P8"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = bench.scaled(100_000, quick: 2_000)
        let store = try TokenStore.open(at: bench.place("claims"))
        try store.fill(0..<accounts, accessTokens: 1)
        var random = RandomText(seed: 7)
        var rounds: [Double] = []
        for _ in 0..<bench.rounds {
            let turns = try (0..<50).map { _ in
                let team = SampleAccount(Int.random(in: 0..<accounts, using: &random)).team
                return try Stopwatch.seconds {
                    let found = try store.accounts(matching: .claim("team", equals: .string(team)))
                    guard found.count == 10 else { throw BenchFailure("\(found.count) accounts have \(team), not 10") }
                }
            }
            rounds.append(Spread(turns).median * 1_000)
        }
        let work = "claim query by equality, \(accounts) accounts, 10 hits"
        add(ReportRow(name, work, unit: .milliseconds, value: Spread(rounds), limit: .value(1)))
    }
}
