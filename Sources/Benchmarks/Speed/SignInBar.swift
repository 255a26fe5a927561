import TokenStorage

/// A first sign-in: account, claims with index rows, refresh and access token, in one durable commit.
enum SignInBar: Bar {
    static let name = "P3"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = 1_000
        let path = try bench.place("sign-in")
        let store = try TokenStore.open(at: path)
        try store.fill(0..<accounts, accessTokens: 5)
        let contest = try SignInContest(store, from: accounts)
        let outcome = try contest.run(rounds: bench.rounds, turns: bench.scaled(20, quick: 4))
        let work = "sign-in of a new account, one durable commit"
        var row = ReportRow(name, work, unit: .microseconds, outcome, floor: "in C, same rows", limit: "≤ 1.2")
        row.peers = try MSALPython.figures(bench, "sign_in", unit: .milliseconds, but: ", not durable")
        add(row)
    }
}
