import OAuth
import TokenStorage

/// A lookup in a store on a server: one question, whose answer is opened.
enum FleetLookupBenchmark: Benchmark {
    static let name = "F1"
    private static let bar = 1.15

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = bench.scaled(10_000, quick: 500)
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        try fleet.fill(0..<accounts, accessTokens: 5)
        for way in FleetServer.Way.allCases {
            for asksState in [false, true] {
                let measurement = try ServerLookupMeasurement(
                    fleet,
                    way,
                    accounts: accounts,
                    floorAsksState: asksState
                )
                let outcome = try AwakeProcessors.run {
                    try measurement.run(rounds: bench.rounds, turns: bench.scaled(20, quick: 4))
                }
                let work = "lookup on a server by \(way.rawValue), \(accounts) accounts"
                var row = ReportRow(
                    name,
                    work + (asksState ? ", beside one that asks for the state of the session too" : ""),
                    unit: .microseconds,
                    outcome,
                    floor: "in C over libpq",
                    // What a store may not leave out is not in the floor of the bar: this row tells what it costs.
                    limit: asksState ? nil : .ratio(bar)
                )
                if way == .socket, !asksState {
                    row.peers = try MSALPython.serverLookup(bench, fleet, accounts: accounts)
                }
                add(row)
            }
        }
    }
}

/// The store and the floor looking up tokens on one server: those of even accounts are the store's, of odd the floor's.
struct ServerLookupMeasurement {
    private let store: TokenStore
    private let floor: ServerFloor
    private let queries: [TokenQuery]
    private let lookups: [(account: Int64, texts: CTexts)]
    private let floorAsksState: Bool

    init(
        _ fleet: FleetServer,
        _ way: FleetServer.Way,
        accounts: Int,
        samples: Int = 200,
        floorAsksState: Bool = false
    ) throws {
        self.floorAsksState = floorAsksState
        store = try fleet.open(way)
        let floor = try ServerFloor(fleet.settings(way))
        self.floor = floor
        var random = RandomText(seed: 42)
        let pairs = (0..<samples).map { _ in 2 * Int.random(in: 0..<accounts / 2, using: &random) }
        queries = pairs.map { SampleAccount($0).query($0 / 2 % 5) }
        var rows: [Int: Int64] = [:]
        for pair in Set(pairs) {
            let row = try fleet.row(of: SampleAccount(pair + 1))
            try floor.adopt(row)
            rows[pair] = row
        }
        lookups = pairs.map { (rows[$0] ?? 0, ServerFloor.lookup($0 / 2 % 5)) }
    }

    func run(rounds: Int, turns: Int) throws -> PairedMeasurement.Outcome {
        try PairedMeasurement(rounds: rounds, turns: turns).run(pieces: queries.count) { piece in
            guard case .usable = try store.storedToken(for: queries[piece % queries.count]) else {
                throw BenchFailure("the store does not find a token")
            }
        } floor: { piece in
            let lookup = lookups[piece % lookups.count]
            try floor.look(lookup.account, lookup.texts, asksState: floorAsksState)
        }
    }
}
