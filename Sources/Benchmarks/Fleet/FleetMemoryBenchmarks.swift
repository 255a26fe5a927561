import Foundation
import OAuth
import SQL
import TestSupport
import TokenStorage

/// A node of a fleet that has looked a token up so often that it serves it from memory.
private struct HotNode {
    let store: TokenStore
    let query: TokenQuery

    init(_ store: TokenStore, _ query: TokenQuery) throws {
        (self.store, self.query) = (store, query)
        try Background.wait { try isServed() && store.tokenInMemory(for: query) != nil }
    }

    func isServed() throws -> Bool {
        guard case .usable = try store.cachedToken(for: query) else { return false }
        return true
    }
}

/// A lookup that memory answers.
enum FleetHotLookupBenchmark: Benchmark {
    static let name = "F3"
    private static let limit = 2.0
    /// The record of use is read once a second meanwhile.
    private static let messageLimit = 20.0

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        try fleet.fill(0..<100, accessTokens: 5)
        let proxy = try DelayingProxy(to: fleet.server.port)
        defer { proxy.stop() }
        let node = try HotNode(fleet.open(port: proxy.port), SampleAccount(7).query())
        let lookups = bench.scaled(200_000, quick: 20_000)
        let before = proxy.messages
        let times = try (0..<bench.rounds).map { _ in
            try Stopwatch.seconds {
                for _ in 0..<lookups where try !node.isServed() { throw BenchFailure("a token is gone") }
            } / Double(lookups)
        }
        let messages = Double(proxy.messages - before) / Double(bench.rounds)
        let time = Spread(times).scaled(.microseconds)
        add(ReportRow(name, "lookup that memory answers", unit: .microseconds, value: time, limit: .value(limit)))
        let work = "messages to the server in \(lookups) of them"
        add(ReportRow(name, work, unit: .count, value: Spread(messages), limit: .value(messageLimit)))
    }
}

/// A sign-out on one node: how long another one still serves the token.
enum FleetSignOutBenchmark: Benchmark {
    static let name = "F12"
    /// The staleness of the store's options, and what is allowed beyond it.
    private static let limit = 2_100.0

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        try fleet.fill(0..<100, accessTokens: 1)
        let rounds = bench.scaled(20, quick: 2)
        for isHeard in [true, false] {
            let times = try (0..<rounds).map { try seconds(fleet, SampleAccount(isHeard ? $0 : 50 + $0), isHeard) }
            let work = "sign-out on one node, \(isHeard ? "heard by" : "not heard by") another: it serves the token for"
            let time = Spread(times).scaled(.milliseconds)
            add(ReportRow(name, work, unit: .milliseconds, value: time, limit: .value(limit)))
        }
    }

    /// The processes of the server that read the record of use for a node which began after a moment.
    private static let listeners = """
        SELECT pid FROM pg_stat_activity
        WHERE query LIKE '%AS old' || 'est%' AND extract(epoch FROM backend_start) * 1000 >= $1
        """

    private static func seconds(_ fleet: FleetServer, _ account: SampleAccount, _ isHeard: Bool) throws -> Double {
        let start = try fleet.integer("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint") ?? 0
        let node = try HotNode(fleet.open(), account.query())
        let other = try fleet.open()
        guard !isHeard else {
            try other.removeAccount(account.id)
            return try Background.wait { try !node.isServed() }
        }
        // The server's side of the connection that listens stands still, so that it neither answers nor ends.
        var listener: Int64 = 0
        try Background.wait {
            listener = try fleet.integer(listeners, .integer(start)) ?? 0
            return listener > 0
        }
        // It was served all the while.
        guard try node.isServed() else { throw BenchFailure("a token is gone") }
        kill(pid_t(listener), SIGSTOP)
        defer { kill(pid_t(listener), SIGCONT) }
        try other.removeAccount(account.id)
        return try Background.wait { try !node.isServed() }
    }
}
