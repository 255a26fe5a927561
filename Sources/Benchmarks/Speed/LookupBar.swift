import TokenStorage

/// The first read in a process: find the row, open the sealed value, build the result.
enum LookupBar: Bar {
    static let name = "P2"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = 1_000
        let path = try bench.place("lookup")
        let store = try TokenStore.open(at: path)
        try store.fill(0..<accounts, accessTokens: 5)
        let contest = try LookupContest(store, accounts: accounts)
        let outcome = try contest.run(rounds: bench.rounds, turns: bench.scaled(60, quick: 10))
        let work = "lookup in an open store, \(accounts) accounts with 5 tokens for APIs"
        var row = ReportRow(name, work, unit: .microseconds, outcome, floor: "in C", limit: "≤ 1.25")
        row.peers = try MSALPython.figures(bench, "first", unit: .milliseconds)
        add(row)
    }
}
