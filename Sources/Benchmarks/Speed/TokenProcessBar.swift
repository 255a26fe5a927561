import TokenStorage

/// `tokenstore token` with a token in the store, as a whole process.
enum TokenProcessBar: Bar {
    static let name = "P6"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let path = try bench.place("token")
        try TokenStore.open(at: path).fill(0..<10, accessTokens: 1)
        let account = SampleAccount(3).homeAccountID
        let token = try bench.tool(
            "token",
            "--account",
            account,
            "--scope",
            SampleAccount.scope(0),
            "--store",
            path.database
        )
        let nothing = ChildProcess("/bin/true", [])
        let outcome = try Contest(rounds: bench.rounds, turns: bench.scaled(100, quick: 20)).run { _ in
            guard try token.run().isSuccess else { throw BenchFailure("tokenstore token failed") }
        } floor: { _ in
            _ = try nothing.run()
        }
        let work = "tokenstore token, from the store, whole process"
        var row = ReportRow(name, work, unit: .milliseconds, outcome, floor: "true", limit: "≤ 12 ms")
        let session = try bench.oidcAgent.map { try OIDCAgentSession($0, bench, accounts: 1) }
        let hot = try session.map { try bench.seconds($0.token) }
        let cold = try session.map { session in try (0..<bench.rounds).map { _ in try session.coldSeconds() } }
        row.peers = [
            PeerFigure(bench.oidcAgent, "from its running daemon", unit: .milliseconds, hot),
            PeerFigure(bench.oidcAgent, "with its daemon's start", unit: .milliseconds, cold),
        ]
        add(row)
    }
}
