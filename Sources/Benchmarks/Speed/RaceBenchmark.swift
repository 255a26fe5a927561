import LocalIdentityProvider
import OAuth
import TokenStorage
import TokenStoreCLI

/// How long many processes wait for one token that needs a refresh.
enum RaceBenchmark: Benchmark {
    static let name = "P10"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let race = Race(bench: bench)
        let ours = try race.run(rounds: bench.scaled(bench.rounds, quick: 3))
        let work = RaceOutcome.work + ": the last has it, issuer takes \(RaceOutcome.issuerMilliseconds) ms"
        let times = Spread(ours.seconds).scaled(.milliseconds)
        var row = ReportRow(name, work, unit: .milliseconds, value: times, limit: .value(550))
        row.each = ours.latencies
        let peer = try race.peer()
        let got = peer.map { "until all have ended, \($0.asked - $0.failed) of \($0.asked) with a token" } ?? ""
        row.peers = [PeerFigure(bench.msal, got, unit: .milliseconds, peer?.seconds)]
        add(row)
    }
}

/// Many processes ask for one expired token, at an issuer that ends a session when a refresh token is used twice.
///
/// One session lasts through all rounds.
struct Race {
    let bench: Bench

    func run(rounds: Int) throws -> RaceOutcome {
        let path = try bench.place("race")
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        defer { issuer.stop() }
        try AsynchronousWork.run { try await issuer.signIn(path) }
        let token = try bench.token(path)
        var outcome = RaceOutcome()
        for _ in 0..<rounds {
            try expire(path)
            let before = issuer.requests()
            issuer.provider.faults.add(.delay(milliseconds: RaceOutcome.issuerMilliseconds, at: "token"))
            let crowd = try Crowd(Array(repeating: token, count: RaceOutcome.processes))
            outcome.add(try crowd.wait(), requests: issuer.requests() - before)
        }
        return outcome
    }

    /// What MSAL for Python makes of it, in fewer rounds, since it takes long.
    func peer() throws -> RaceOutcome? {
        try bench.msal?.race(
            bench,
            rounds: bench.scaled(5, quick: 1),
            processes: bench.scaled(RaceOutcome.processes, quick: 16)
        )
    }

    /// Ends every access token, as time would.
    private func expire(_ path: StorePath) throws {
        try TokenStore.open(at: path).withWriter {
            try $0.update("access_token", set: "expires_on = 0, refresh_on = NULL")
        }
    }
}

/// What became of processes that asked for one expired token at once, round after round.
struct RaceOutcome {
    static let processes = 64
    static let issuerMilliseconds = 150
    static let work = "\(processes) processes ask for one expired token"

    /// From the start until the last process has ended.
    private(set) var seconds: [Double] = []

    /// The same for each process of each round, in milliseconds.
    private(set) var latencies: [Double] = []
    private(set) var asked = 0
    private(set) var failed = 0

    /// Requests beyond one a round.
    private(set) var surplus = 0

    var rounds: Int { seconds.count }

    mutating func add(_ crowd: Crowd.Ended, requests: Int) {
        seconds.append(crowd.last)
        latencies += crowd.seconds.map { $0 * 1_000 }
        asked += crowd.seconds.count
        failed += crowd.failed
        surplus += requests - 1
    }
}
