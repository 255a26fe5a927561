import TestSupport
import TokenStorage

/// A list of many accounts comes in pages, not in a question for each.
enum FleetListBenchmark: Benchmark {
    static let name = "F5"
    private static let limit = 60.0

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = bench.scaled(10_000, quick: 1_000)
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        try fleet.fill(0..<accounts, accessTokens: 1)
        // So slow that no answer comes while a question is still being sent, which would count as another one.
        let proxy = try DelayingProxy(to: fleet.server.port, roundTrip: .milliseconds(20))
        defer { proxy.stop() }
        let store = try fleet.open(port: proxy.port)
        _ = try store.accounts().first
        let before = proxy.roundTrips
        let found = try store.listed()
        guard found == accounts else { throw BenchFailure("the list has \(found) accounts, not \(accounts)") }
        let trips = Spread(Double(proxy.roundTrips - before))
        let work = "round trips of a list of \(accounts) accounts"
        add(ReportRow(name, work, unit: .count, value: trips, limit: .value(limit)))
    }
}

extension TokenStore {
    /// How many accounts a list shows.
    fileprivate func listed() throws -> Int {
        var count = 0
        try forEachAccount { _ in count += 1 }
        return count
    }
}
