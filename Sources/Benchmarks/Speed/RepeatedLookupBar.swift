import TokenStorage

/// The same process asks again for a token that is good, while other processes may have committed.
enum RepeatedLookupBar: Bar {
    static let name = "P1"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = 1_000
        let store = try TokenStore.open(at: bench.place("repeated"))
        try store.fill(0..<accounts, accessTokens: 5)
        let contest = try LookupContest(store, accounts: accounts)
        let turns = bench.scaled(60, quick: 10)
        let outcome = try contest.run(rounds: bench.rounds, turns: turns, isRepeated: true)
        let work = "lookup of a token that was looked up before"
        var row = ReportRow(
            name,
            work,
            unit: .microseconds,
            outcome,
            floor: "read and open in C",
            limit: "≤ 0.4"
        )
        row.peers = try MSALPython.figures(bench, "repeated", unit: .microseconds)
        add(row)
    }
}
