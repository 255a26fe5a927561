import LocalIdentityProvider
import OAuth
import TestSupport
import TokenStorage
import TokenStoreCLI

/// Processes of several nodes, whose clocks disagree, ask for one expired token.
///
/// The issuer ends a session when a refresh token is used twice.
enum FleetRaceBenchmark: Benchmark {
    static let name = "F7"
    private static let nodes = 8
    private static let processesOfNode = 8
    private static let limit = 550.0
    private static let issuerMilliseconds = RaceOutcome.issuerMilliseconds
    private static let slowMilliseconds = 15_000

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        defer { issuer.stop() }
        let quick = try (0..<bench.scaled(20, quick: 3)).map { _ in
            try round(fleet, issuer, milliseconds: issuerMilliseconds)
        }
        let work = "\(nodes) nodes of \(processesOfNode) processes, clocks 10 min apart, one expired token"
        let times = Spread(quick.map(\.crowd.last)).scaled(.milliseconds)
        let last = "\(work): the last has it, issuer takes \(issuerMilliseconds) ms"
        var row = ReportRow(name, last, unit: .milliseconds, value: times, limit: .value(limit))
        row.each = quick.flatMap(\.crowd.seconds).map { $0 * 1_000 }
        row.peers = try MSALPython.serverRace(bench, fleet, processes: bench.scaled(nodes * processesOfNode, quick: 8))
        add(row)
        outcome(of: quick, work).forEach(add)
        guard !bench.isQuick else { return }
        let slow = try round(fleet, issuer, milliseconds: slowMilliseconds)
        outcome(of: [slow], work + ", issuer takes \(slowMilliseconds / 1_000) s").forEach(add)
    }

    private static func outcome(of rounds: [Round], _ work: String) -> [ReportRow] {
        let failed = rounds.reduce(0) { $0 + $1.crowd.failed }
        let surplus = rounds.reduce(0) { $0 + abs($1.requests - 1) }
        return [
            ReportRow(name, "\(work): without it", failures: failed, of: rounds.count * nodes * processesOfNode),
            ReportRow(name, "\(work): requests beyond one", failures: surplus, of: rounds.count),
        ]
    }

    private struct Round {
        let crowd: Crowd.Ended
        let requests: Int
    }

    private static func round(_ fleet: FleetServer, _ issuer: BenchIssuer, milliseconds: Int) throws -> Round {
        let store = try fleet.open()
        try AsynchronousWork.run { try await issuer.signIn(to: store, lifetime: 0) }
        issuer.provider.faults.add(.delay(milliseconds: milliseconds, at: "token"))
        let before = issuer.requests()
        let address = fleet.text
        let children = (0..<nodes * processesOfNode).map { index in
            // From ten minutes behind to ten minutes ahead, the same for all processes of a node.
            let ahead = (index / processesOfNode) * 1_200 / (nodes - 1) - 600
            return ChildProcess.this("fleet-token", address, "--ahead=\(ahead)")
        }
        return Round(crowd: try Gate.runUntilDone(children), requests: issuer.requests() - before)
    }
}

/// The primary is lost while a refresh token is at the issuer: two callers, one request.
enum FleetRefreshLossBenchmark: Benchmark {
    static let name = "F8"
    private static let issuerMilliseconds = 1_500

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        defer { issuer.stop() }
        let rounds = bench.scaled(20, quick: 2)
        var (unserved, surplus) = (0, 0)
        for _ in 0..<rounds {
            let round = try loseThePrimary(bench, issuer)
            unserved += round.unserved
            surplus += abs(round.requests - 1)
        }
        let work = "primary killed while a refresh is at the issuer, standby promoted"
        add(ReportRow(name, "\(work): callers not served", failures: unserved, of: 2 * rounds))
        add(ReportRow(name, "\(work): requests beyond one", failures: surplus, of: rounds))
    }

    private static func loseThePrimary(_ bench: Bench, _ issuer: BenchIssuer) throws -> (unserved: Int, requests: Int) {
        let pair = try FleetPair()
        defer { pair.stop() }
        let store = try pair.store(bench).open()
        try AsynchronousWork.run { try await issuer.signIn(to: store, lifetime: 0) }
        store.close()
        let before = issuer.requests()
        issuer.provider.faults.add(.delay(milliseconds: issuerMilliseconds, at: "token"))
        let child = ChildProcess.this("fleet-token", pair.address)
        let gate = try Pipe()
        let callers = try (0..<2).map { _ in try child.start(input: gate.reading, errors: 2) }
        gate.closeWriting()
        try Background.wait { issuer.requests() > before }
        try pair.primary.kill()
        try pair.promote()
        let unserved = try callers.count { try !$0.wait().isSuccess }
        return (unserved, issuer.requests() - before)
    }
}
