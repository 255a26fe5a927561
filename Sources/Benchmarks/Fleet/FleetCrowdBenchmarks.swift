import OAuth
import Synchronization
import TokenStorage

/// Several nodes sign in at once: accounts of their own, and one that all of them share.
enum FleetCrowdBenchmark: Benchmark {
    static let name = "F11"
    private static let nodes = 8

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        let address = fleet.text
        let first = { (node: Int) in 1 + node * 2 * FleetCrowdChild.count }
        let children = (0..<nodes).map { ChildProcess.this("fleet-crowd", address, "\(first($0))") }
        let failed = try Gate.runWhenReady(children).failed
        let each = nodes * FleetCrowdChild.count
        let store = try fleet.open()
        let missing = try (0..<nodes).flatMap { first($0)..<first($0) + FleetCrowdChild.count }.count { number in
            var account = SampleAccount(number)
            account.generation = UInt64(number)
            return try !account.isStored(in: store)
        }
        let entries = try fleet.entries(of: SampleAccount(FleetCrowdChild.shared))
        let work = "\(each) first sign-ins of \(each) accounts and \(each) of one account from \(nodes) nodes"
        let problems = try store.check().count
        add(ReportRow(name, "\(work): not stored", failures: missing + abs(each - entries) + problems, of: 2 * each))
        add(ReportRow(name, "\(work): nodes that saw an error", failures: failed, of: nodes))
    }
}

/// Writers of different accounts at once.
enum FleetWritersBenchmark: Benchmark {
    static let name = "F6"
    private static let writers = 16
    private static let bar = 0.8

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        try fleet.fill(0..<bench.scaled(1_000, quick: 200), accessTokens: 5)
        let store = try fleet.open()
        let request = try SampleAccount.request()
        let model = SampleAccount(1_000_000)
        try store.save(model.response, for: request)
        let row = try fleet.row(of: model)
        let floors = try (0..<writers).map { _ in
            let floor = try ServerFloor(fleet.settings())
            try floor.learn(row)
            return Writer(floor)
        }
        let pieces = bench.scaled(40, quick: 10)
        let measurement = PairedMeasurement(rounds: bench.rounds, turns: bench.scaled(3, quick: 1))
        for asksFirst in [false, true] {
            // Another number for each sign-in of each writer of each turn.
            let first = asksFirst ? 5_000_000 : 2_000_000
            // Made before the clock runs: an issuer's answers are no work of the store.
            let count = bench.rounds * measurement.turns * writers * pieces
            let answers = (0..<count).map { SampleAccount(first + $0).response }
            let outcome = try measurement.run { turn in
                try together { writer in
                    let start = (turn * writers + writer) * pieces
                    for piece in start..<start + pieces { try store.save(answers[piece], for: request) }
                }
            } floor: { turn in
                try together { writer in
                    for piece in 0..<pieces {
                        let number = UInt64(7_000_000 + first + (turn * writers + writer) * pieces + piece)
                        try floors[writer].floor.withLock { try $0.signIn(spread(number), asksFirst: asksFirst) }
                    }
                }
            }
            add(Self.row(outcome, commits: Double(writers * pieces), floorAsksFirst: asksFirst))
        }
    }

    /// A number over all ids, as those that the store works out are.
    static func spread(_ number: UInt64) -> Int64 { Int64((number &* 0x9E37_79B9_7F4A_7C15) >> 1) }

    private static func together(_ body: @escaping @Sendable (Int) throws -> Void) throws {
        if let error = Background.together(writers, body).first { throw error }
    }

    private static func row(
        _ outcome: PairedMeasurement.Outcome,
        commits: Double,
        floorAsksFirst: Bool
    ) -> ReportRow {
        let rate = { (spread: Spread) in
            Spread([commits / spread.greatest, commits / spread.median, commits / spread.least])
        }
        let way = floorAsksFirst ? ", beside one that asks first too" : ""
        let ratio = outcome.ratio
        return ReportRow(
            name,
            "sign-ins a second, \(writers) writers of different accounts\(way)",
            unit: .count,
            value: rate(outcome.ours),
            floor: rate(outcome.floor),
            named: FleetSignInBenchmark.floor(asksFirst: floorAsksFirst),
            ratio: Spread([1 / ratio.greatest, 1 / ratio.median, 1 / ratio.least]),
            limit: floorAsksFirst ? nil : Limit(ratio: bar, isLeast: true)
        )
    }

    /// A floor that one thread at a time uses.
    private final class Writer: Sendable {
        let floor: LockedValue<ServerFloor>

        init(_ floor: sending ServerFloor) { self.floor = LockedValue(floor) }
    }
}

/// A new data key while others write: every value opens afterwards.
enum FleetRekeyBenchmark: Benchmark {
    static let name = "F14"
    private static let writers = 8

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        let filled = bench.scaled(500, quick: 300)
        try fleet.fill(0..<filled, accessTokens: 2)
        let isOver = LockedValue(false)
        let stored = LockedValue(0)
        let writing = Background.result {
            Background.together(writers) { writer in
                let store = try fleet.open()
                let request = try SampleAccount.request()
                var number = 0
                while !isOver.withLock(\.self) {
                    // The store does not grow for ever, so that a rekey has an end.
                    let newcomer = 1_000_000 * (writer + 1) + number % filled
                    try store.save(SampleAccount(newcomer).response, for: request)
                    // Also the rows that the rekey may be at.
                    try store.save(SampleAccount(number % filled).response, for: request)
                    stored.withLock { $0 += 2 }
                    number += 1
                }
            }
        }
        let rekeys = bench.scaled(3, quick: 2)
        let rekeyed = Result {
            let store = try fleet.open()
            for _ in 0..<rekeys { _ = try store.rekey() }
        }
        isOver.withLock { $0 = true }
        let errors = try writing()
        try rekeyed.get()
        for error in errors { Violations.explain("\(error)") }
        let store = try fleet.open()
        let closed = try store.check().count
        let keys = try fleet.integer("SELECT count(*) FROM data_key") ?? 0
        let values = Int(try fleet.integer("SELECT count(*) FROM access_token") ?? 0)
        let work = "\(rekeys) rekeys under \(writers) writers, \(stored.withLock(\.self)) sign-ins meanwhile"
        add(ReportRow(name, "\(work): values that do not open", failures: closed, of: values))
        add(ReportRow(name, "\(work): writers that failed", failures: errors.count, of: writers))
        add(ReportRow(name, "\(work): keys that were left", failures: Int(keys) - 1, of: rekeys))
    }
}
