import OAuth
import TokenStorage

/// Lookups and sign-ins in a large store by turns with a small one.
enum ScaleBar: Bar {
    static let name = "P4"

    private static let smallAccounts = 1_000

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let small = try TokenStore.open(at: bench.place("small"))
        try small.fill(0..<smallAccounts, accessTokens: 5)
        let large = try TokenStore.open(at: bench.place("large"))
        try large.fill(0..<bench.accounts, accessTokens: 5) { ProgressLine.show($0, of: bench.accounts) }
        add(try lookups(bench, large, small, isRepeated: true))
        add(try lookups(bench, large, small, isRepeated: false))
        add(try signIns(bench, large, small))
    }

    private static func lookups(
        _ bench: Bench,
        _ large: TokenStore,
        _ small: TokenStore,
        isRepeated: Bool
    ) throws -> ReportRow {
        var random = RandomText(seed: 4)
        let numbers = (0..<(isRepeated ? 400 : 20_000)).map { _ in Int.random(in: 0..<bench.accounts, using: &random) }
        let queries = numbers.map { SampleAccount($0).query($0 % 5) }
        let smallQueries = numbers.map { SampleAccount($0 % smallAccounts).query($0 % 5) }
        func look(_ query: TokenQuery, in store: TokenStore) throws {
            guard case .usable = try isRepeated ? store.cachedToken(for: query) : store.storedToken(for: query) else {
                throw BenchFailure("the store does not find a token")
            }
        }
        // Once through, so that what is measured is the store and not the first touch of the disk.
        for query in queries { try look(query, in: large) }
        let contest = Contest(rounds: bench.rounds, turns: bench.scaled(50, quick: 10))
        let outcome = try contest.run(pieces: 400) { piece in
            try look(queries[piece % queries.count], in: large)
        } floor: { piece in
            try look(smallQueries[piece % queries.count], in: small)
        }
        return row(isRepeated ? "repeated lookup" : "lookup", bench, .microseconds, outcome)
    }

    private static func signIns(_ bench: Bench, _ large: TokenStore, _ small: TokenStore) throws -> ReportRow {
        let turns = bench.scaled(20, quick: 4)
        let pieces = 50
        let responses = (0..<bench.rounds * turns * pieces).map { SampleAccount(bench.accounts + $0).response }
        let request = try SampleAccount.request()
        let outcome = try Contest(rounds: bench.rounds, turns: turns).run(pieces: pieces) { piece in
            try large.save(responses[piece], for: request)
        } floor: { piece in
            try small.save(responses[piece], for: request)
        }
        return row("sign-in", bench, .microseconds, outcome)
    }

    private static func row(
        _ work: String,
        _ bench: Bench,
        _ unit: ReportRow.Unit,
        _ outcome: Contest.Outcome
    ) -> ReportRow {
        let text = "\(work), \(bench.accounts) accounts with 5 tokens for APIs"
        return ReportRow(name, text, unit: unit, outcome, floor: "\(smallAccounts) accounts", limit: "≤ 1.3")
    }
}
