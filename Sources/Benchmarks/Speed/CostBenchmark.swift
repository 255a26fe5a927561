import OAuth
import TestSupport
import TokenStorage

/// What a lookup and a sign-in cost while a store grows, in a file and on a server that this run starts.
enum CostBenchmark: Benchmark {
    static let name = "SCALE"

    /// How many accounts a store has when it is measured.
    static let steps = [1_000, 10_000, 100_000, 1_000_000]

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let steps = Self.steps.filter { $0 <= bench.accounts }
        try measureFile(bench, steps, add)
        // Where no server is installed, the report says that these rows are missing.
        guard TestServer.isInstalled else { return }
        try measureServer(bench, steps, add)
    }

    private static func measureFile(_ bench: Bench, _ steps: [Int], _ add: (ReportRow) -> Void) throws {
        let store = try TokenStore.open(at: bench.place("growing"))
        var measurement = CostMeasurement(bench, .sqlite)
        var present = 0
        for count in steps {
            try store.fill(present..<count, accessTokens: 5) { ProgressLine.show($0, of: count) }
            present = count
            try measurement.run(store, accounts: count, asked: count, add)
        }
    }

    private static func measureServer(_ bench: Bench, _ steps: [Int], _ add: (ReportRow) -> Void) throws {
        // Beyond these, the server copies accounts: they stand between those that are asked for.
        let imported = 10_000
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        let store = try fleet.open()
        var measurement = CostMeasurement(bench, .postgreSQL)
        var present = 0
        for count in steps {
            if count <= imported {
                try fleet.fill(present..<count, accessTokens: 5)
            } else {
                try fleet.multiply(present / imported..<count / imported)
            }
            present = count
            try measurement.run(store, accounts: count, asked: min(count, imported), add)
        }
    }
}

/// The same work on one store each time that it has grown.
private struct CostMeasurement {
    private let bench: Bench
    private let engine: CostPoint.Engine

    /// What was measured first, and with how many accounts.
    private var first: [CostPoint.Operation: (spread: Spread, accounts: Int)] = [:]

    /// Of the next account that signs in; none of these is there before.
    private var newcomer = 10_000_000

    init(_ bench: Bench, _ engine: CostPoint.Engine) { (self.bench, self.engine) = (bench, engine) }

    /// Looks up tokens of the first `asked` accounts, then signs in new ones.
    mutating func run(_ store: TokenStore, accounts: Int, asked: Int, _ add: (ReportRow) -> Void) throws {
        let lookups = try seconds(of: lookups(in: store, asked: asked), turns: bench.scaled(10, quick: 4), pieces: 400)
        add(row(.lookup, accounts, lookups))
        let signIns = try seconds(of: signIns(in: store), turns: 4, pieces: 10)
        newcomer += bench.rounds * 4 * 10
        add(row(.signIn, accounts, signIns))
    }

    private func lookups(in store: TokenStore, asked: Int) throws -> (Int) throws -> Void {
        var random = RandomText(seed: 4)
        let queries = (0..<4_000).map { _ in
            SampleAccount(Int.random(in: 0..<asked, using: &random)).query(Int.random(in: 0..<5, using: &random))
        }
        let look = { (number: Int) in
            guard case .usable = try store.storedToken(for: queries[number % queries.count]) else {
                throw BenchFailure("the store does not find a token")
            }
        }
        // Once before, so that the store is measured and not the first access to the disk.
        for number in queries.indices { try look(number) }
        return look
    }

    private func signIns(in store: TokenStore) throws -> (Int) throws -> Void {
        let request = try SampleAccount.request()
        let responses = (0..<bench.rounds * 4 * 10).map { SampleAccount(newcomer + $0).response }
        return { number in try store.save(responses[number], for: request) }
    }

    /// For one piece of work, once for each round.
    private func seconds(of work: (Int) throws -> Void, turns: Int, pieces: Int) throws -> Spread {
        var next = 0
        return Spread(
            try (0..<bench.rounds).map { _ in
                let seconds = try (0..<turns).map { _ in
                    let range = next..<next + pieces
                    next += pieces
                    return try Stopwatch.seconds { for piece in range { try work(piece) } } / Double(pieces)
                }
                // The median turn is one that nothing else interrupted.
                return Spread(seconds).median
            }
        )
    }

    /// Beside what the same took with fewest accounts.
    private mutating func row(_ operation: CostPoint.Operation, _ accounts: Int, _ seconds: Spread) -> ReportRow {
        let spread = seconds.scaled(.microseconds)
        let base = first[operation]
        if base == nil { first[operation] = (spread, accounts) }
        var row = ReportRow(
            CostBenchmark.name,
            "\(operation.rawValue), \(engine.rawValue), \(accounts) accounts of 5 tokens",
            unit: .microseconds,
            value: spread,
            floor: base?.spread,
            named: base.map { "\($0.accounts) accounts" },
            ratio: base.map { spread.divided(by: $0.spread.median) }
        )
        row.cost = CostPoint(operation: operation, engine: engine, accounts: accounts)
        return row
    }
}
