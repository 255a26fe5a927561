import CBaseline
import OAuth
import Synchronization
import TokenManagement
import TokenStorage
import TokenStoreCLI

/// A server asks for tokens of many accounts, by turns with a plain dictionary behind a lock.
enum ServingBenchmark: Benchmark {
    static let name = "CALLS"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = bench.scaled(10_000, quick: 500)
        let store = try TokenStore.open(at: bench.place("serving"))
        try store.fill(0..<accounts, accessTokens: 1)
        let serving = try Serving(store, accounts: accounts)
        try serving.run(accounts)
        for tasks in [1, 2] {
            let turns = bench.scaled(20, quick: 4)
            let outcome = try PairedMeasurement(rounds: bench.rounds, turns: turns).run { _ in
                try serving.run(accounts, tasks: tasks)
            } floor: { _ in
                try serving.runPlain(accounts, tasks: tasks)
            }
            let work = "a token in memory for one of \(accounts) accounts, \(tasks) task\(tasks > 1 ? "s" : "")"
            let perCall = outcome.divided(by: Double(accounts))
            add(ReportRow(name, work, unit: .microseconds, perCall, floor: "a dictionary behind a lock"))
        }
        add(try refreshes(bench, serving, accounts))
        if let row = try allocations(serving, accounts) { add(row) }
    }

    /// Of a hundred calls one refreshes, which makes two durable commits.
    private static func refreshes(_ bench: Bench, _ serving: Serving, _ accounts: Int) throws -> ReportRow {
        let calls = bench.scaled(accounts, quick: 200)
        let times = try (0..<bench.rounds).map { round in
            try Stopwatch.seconds { try serving.run(calls, tasks: 2, refreshing: 100, from: round) }
                / Double(calls) * 1e6
        }
        let work = "a token for one of \(accounts) accounts, 2 tasks, one call of 100 refreshes"
        return ReportRow(name, work, unit: .microseconds, value: Spread(times))
    }

    private static func allocations(_ serving: Serving, _ accounts: Int) throws -> ReportRow? {
        try serving.run(accounts)
        baseline_count_allocations()
        try serving.run(accounts)
        let counted = baseline_counted_allocations()
        guard counted >= 0 else { return nil }
        let each = Spread(Double(counted) / Double(accounts))
        return ReportRow(name, "allocations of such a call", unit: .count, value: each, limit: .value(2))
    }
}

/// A program that answers many people's requests with the tokens of a store.
private final class Serving: Sendable {
    private let manager: TokenManager
    private let requests: [SilentRequest]
    private let plain: LockedValue<[SilentRequest: TokenResult]>

    init(_ store: TokenStore, accounts: Int) throws {
        let manager = TokenManager(store: store, clientID: SampleAccount.client, transport: HostileNetwork())
        let requests = (0..<accounts).map {
            SilentRequest(account: SampleAccount($0).id, scope: Scope(SampleAccount.scope(0)))
        }
        (self.manager, self.requests) = (manager, requests)
        let results = try AsynchronousWork.run {
            var results: [SilentRequest: TokenResult] = [:]
            for request in requests { results[request] = try await manager.acquireTokenSilently(request) }
            return results
        }
        plain = LockedValue(results)
    }

    /// Asks `calls` times in all; of so many calls one is to be `refreshing`.
    func run(_ calls: Int, tasks: Int = 1, refreshing: Int? = nil, from first: Int = 0) throws {
        try each(calls, tasks) { [self] call in
            var request = requests[(call + first) % requests.count]
            if let refreshing { request.forcesRefresh = call % refreshing == 0 }
            _ = try await manager.acquireTokenSilently(request)
        }
    }

    func runPlain(_ calls: Int, tasks: Int) throws {
        try each(calls, tasks) { [self] call in
            let request = requests[call % requests.count]
            guard plain.withLock({ $0[request] }) != nil else { throw BenchFailure("a token is not in the dictionary") }
        }
    }

    private func each(_ calls: Int, _ tasks: Int, _ body: @escaping @Sendable (Int) async throws -> Void) throws {
        try AsynchronousWork.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        for call in stride(from: task, to: calls, by: tasks) { try await body(call) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
