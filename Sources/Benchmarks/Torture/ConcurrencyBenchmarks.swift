import IssuerSupport
import TokenStorage
import TokenStoreCLI

/// Many processes sign in at once.
enum CrowdBenchmark: Benchmark {
    static let name = "R4"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let processes = bench.count(name, full: 128, quick: 16)
        let path = try bench.place("crowd")
        let store = try TokenStore.open(at: path)
        let children = (0..<processes).map { ChildProcess.this("sign-in", path.database, "\(2 * $0)", "2") }
        let failed = try Gate.run(children)
        let missing = try (0..<2 * processes).count { number in
            guard case .usable = try store.cachedToken(for: SampleAccount(number).query()) else { return true }
            return false
        }
        let problems = try store.check().count
        let work = "\(processes) processes × 2 sign-ins at once"
        let peer = try bench.msal?.crowd(bench, processes: processes)
        var stored = ReportRow(name, work + ": not stored", failures: missing + problems, of: 2 * processes)
        stored.peers = [PeerFigure(bench.msal, "", failures: peer?.missing, of: 2 * processes)]
        add(stored)
        var ended = ReportRow(name, work + ": processes that failed", failures: failed, of: processes)
        ended.peers = [PeerFigure(bench.msal, "", failures: peer?.failed, of: processes)]
        add(ended)
    }
}

/// Many processes open a store that does not exist yet.
enum FirstOpenBenchmark: Benchmark {
    static let name = "R5"
    private static let processes = 24

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let rounds = bench.count(name, full: 200, quick: 6)
        var failed = 0
        for round in 0..<rounds {
            let path = try bench.place("first")
            // With no sign-ins half of the time: then opening is all that happens.
            let count = round.isMultiple(of: 2) ? "0" : "1"
            failed += try Gate.run(
                (0..<processes).map { ChildProcess.this("sign-in", path.database, "\($0)", count) }
            )
            let store = try TokenStore.open(at: path)
            let accounts = try store.accounts().count
            failed += try abs(accounts - (count == "0" ? 0 : processes)) + store.check().count
        }
        let work = "\(rounds) rounds of \(processes) processes opening a store that is not there"
        add(ReportRow(name, work, failures: failed, of: rounds * processes))
    }
}

/// Many processes ask for one expired token, and one of them refreshes it.
enum SingleRefreshBenchmark: Benchmark {
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

/// Random walks through the flows of native authentication, with faults at every step: no walk is stuck, and no account
/// is stored by halves.
enum WalksBenchmark: Benchmark {
    static let name = "WALKS"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let count = bench.count(name, full: 10_000, quick: 100)
        let directory = try bench.place("walks").directory
        let found = try AsynchronousWork.run {
            try await WalkFindings.walks(count, seed: 6, directory: directory)
        }
        for problem in found.problems.prefix(10) { Violations.explain(problem) }
        let work = "random walks (\(found.steps) steps, \(found.faults) faults, \(found.signIns) sign-ins): problems"
        add(ReportRow(name, work, failures: found.problems.count, of: found.walks))
    }
}
