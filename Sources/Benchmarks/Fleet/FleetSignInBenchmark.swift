import OAuth
import TestSupport
import TokenStorage

/// First sign-ins in a store on a server, also through a network that takes its time.
enum FleetSignInBenchmark: Benchmark {
    static let name = "F2"
    private static let bar = 1.2
    private static let tripLimit = 3.0

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        try fleet.fill(0..<bench.scaled(1_000, quick: 200), accessTokens: 5)
        add(try roundTrips(bench, fleet))
        // How long a round trip takes, in microseconds; nil: without a network.
        for (index, delay) in [nil, 0, 500, 2_000].enumerated() {
            let proxy = try delay.map { try DelayingProxy(to: fleet.server.port, roundTrip: .microseconds($0)) }
            defer { proxy?.stop() }
            let way = delay.map { "TCP with \(Double($0) / 1_000) ms of network" } ?? FleetServer.Way.socket.rawValue
            for asksFirst in [false, true] {
                let measurement = try ServerSignInMeasurement(
                    fleet,
                    port: proxy?.port,
                    from: 1_000_000 * (2 * index + (asksFirst ? 2 : 1)),
                    floorAsksFirst: asksFirst
                )
                let outcome = try AwakeProcessors.run {
                    try measurement.run(rounds: bench.rounds, turns: bench.scaled(10, quick: 2))
                }
                add(
                    ReportRow(
                        name,
                        "sign-in of a new account by \(way)\(asksFirst ? ", beside one that asks first too" : "")",
                        unit: .microseconds,
                        outcome,
                        floor: floor(asksFirst: asksFirst),
                        // Who asks first is not what the bar is about: this row tells how much of the time that takes.
                        limit: asksFirst ? nil : .ratio(bar)
                    )
                )
            }
        }
    }

    static func floor(asksFirst: Bool) -> String { asksFirst ? "in C, two batches" : "in C, one batch" }

    private static func roundTrips(_ bench: Bench, _ fleet: FleetServer) throws -> ReportRow {
        // So slow that no answer comes while a question is still being sent, which would count as another one.
        let proxy = try DelayingProxy(to: fleet.server.port, roundTrip: .milliseconds(20))
        defer { proxy.stop() }
        let store = try fleet.open(port: proxy.port)
        let request = try SampleAccount.request()
        // The first one connects and prepares.
        try store.save(SampleAccount(900_000).response, for: request)
        let trips = try (1...bench.scaled(50, quick: 10)).map { number in
            let before = proxy.roundTrips
            try store.save(SampleAccount(900_000 + number).response, for: request)
            return Double(proxy.roundTrips - before)
        }
        let work = "round trips of a sign-in of a new account"
        return ReportRow(name, work, unit: .count, value: Spread(trips), limit: .value(tripLimit))
    }
}

/// The store and the floor signing in accounts that are not on the server yet.
struct ServerSignInMeasurement {
    private let store: TokenStore
    private let floor: ServerFloor
    private let request: TokenRequest
    private let firstNumber: Int
    private let floorAsksFirst: Bool

    private static let pieces = 10

    init(_ fleet: FleetServer, port: Int?, from number: Int, floorAsksFirst: Bool) throws {
        self.floorAsksFirst = floorAsksFirst
        store = try fleet.open(port: port)
        floor = try ServerFloor(fleet.settings(port: port))
        request = try SampleAccount.request()
        let model = SampleAccount(number)
        try store.save(model.response, for: request)
        try floor.learn(try fleet.row(of: model))
        firstNumber = number + 1
    }

    func run(rounds: Int, turns: Int) throws -> PairedMeasurement.Outcome {
        let responses = (0..<rounds * turns * Self.pieces).map { SampleAccount(firstNumber + $0).response }
        return try PairedMeasurement(rounds: rounds, turns: turns).run(pieces: Self.pieces) { piece in
            try store.save(responses[piece], for: request)
        } floor: { piece in
            let account = FleetWritersBenchmark.spread(UInt64(firstNumber + piece))
            try floor.signIn(account, asksFirst: floorAsksFirst)
        }
    }
}
