import OAuth
import TokenStorage

/// Accounts by the value of a claim, out of many.
enum ClaimQueryBar: Bar {
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
        add(ReportRow(name, work, unit: .milliseconds, value: Spread(rounds), limit: "≤ 1 ms"))
    }
}
