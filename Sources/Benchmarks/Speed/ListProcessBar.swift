import TokenStorage

/// `tokenstore list` as a whole process, beside a process that does nothing.
enum ListProcessBar: Bar {
    static let name = "P5"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let path = try bench.place("list")
        try TokenStore.open(at: path).fill(0..<10, accessTokens: 1)
        let list = try bench.tool("list", "--store", path.database)
        let nothing = ChildProcess("/bin/true", [])
        let outcome = try Contest(rounds: bench.rounds, turns: bench.scaled(100, quick: 20)).run { _ in
            guard try list.run().isSuccess else { throw BenchFailure("tokenstore list failed") }
        } floor: { _ in
            _ = try nothing.run()
        }
        let work = "tokenstore list of 10 accounts, whole process"
        var row = ReportRow(name, work, unit: .milliseconds, outcome, floor: "true", limit: "≤ 10 ms, ≤ 8")
        let session = try bench.oidcAgent.map { try OIDCAgentSession($0, bench, accounts: 10) }
        let times = try session.map { try bench.seconds($0.list) }
        row.peers = [PeerFigure(bench.oidcAgent, "names of 10 accounts in its daemon", unit: .milliseconds, times)]
        add(row)
    }
}
