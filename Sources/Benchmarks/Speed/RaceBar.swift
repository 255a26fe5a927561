/// How long many processes wait for one token that has to be refreshed.
enum RaceBar: Bar {
    static let name = "P10"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let race = Race(bench: bench)
        let ours = try race.run(rounds: bench.scaled(bench.rounds, quick: 3))
        let work = RaceOutcome.work + ", issuer takes \(RaceOutcome.issuerMilliseconds) ms"
        let limit = "≤ 550 ms until all have it"
        let times = Spread(ours.seconds).scaled(.milliseconds)
        var row = ReportRow(name, work, unit: .milliseconds, value: times, limit: limit)
        let peer = try race.peer()
        let got = peer.map { "until all have ended, \($0.asked - $0.failed) of \($0.asked) with a token" } ?? ""
        row.peers = [PeerFigure(bench.msal, got, unit: .milliseconds, peer?.seconds)]
        add(row)
    }
}
