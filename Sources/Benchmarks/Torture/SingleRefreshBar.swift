/// Many processes ask for one expired token, and one of them refreshes it.
enum SingleRefreshBar: Bar {
    static let name = "R2"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let race = Race(bench: bench)
        let ours = try race.run(rounds: bench.count(name, full: 20, quick: 3))
        let peer = try race.peer()
        let rounds = peer.map { "\($0.rounds) rounds of \($0.asked / $0.rounds) processes" } ?? ""
        var failed = ReportRow(name, RaceOutcome.work + ": without it", failures: ours.failed, of: ours.asked)
        failed.peers = [PeerFigure(bench.msal, rounds, failures: peer?.failed, of: peer?.asked)]
        add(failed)
        let more = RaceOutcome.work + ": requests beyond one"
        var surplus = ReportRow(name, more, failures: ours.surplus, of: ours.rounds)
        surplus.peers = [PeerFigure(bench.msal, rounds, failures: peer?.surplus, of: nil)]
        add(surplus)
    }
}
