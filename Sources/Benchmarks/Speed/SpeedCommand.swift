import ArgumentParser
import OAuth
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

struct SpeedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "speed",
        abstract: "Times the store by turns with a floor in C, or with other programs.",
        discussion: """
            The floor uses SQLite's C API on the same file and schema with the same settings and statements that are \
            prepared once, and the AES-256-GCM and HMAC of the same BoringSSL. It knows the content of the file before \
            it writes, gets its texts ready-made, and wipes no memory.
            """
    )

    static var bars: [any Benchmark.Type] {
        [
            RepeatedLookupBenchmark.self, LookupBenchmark.self, SignInBenchmark.self, ListProcessBenchmark.self,
            TokenProcessBenchmark.self,
            ListJSONBenchmark.self, ClaimQueryBenchmark.self, ServingBenchmark.self, ImportBenchmark.self,
            RaceBenchmark.self,
            IssuerBenchmark.self,
        ]
    }

    @OptionGroup var options: BenchOptions
    @OptionGroup var tool: ToolOption
    @OptionGroup var peers: PeerOption

    func run() throws {
        try options.run(Self.configuration.commandName, Self.bars) {
            $0.tool = try $0.installed(tool.path)
            try $0.findPeers(peers)
        }
    }
}

struct ScaleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Times lookups and sign-ins in a store of a million accounts beside one of a thousand.",
        discussion: """
            P4 compares two files by turns; SCALE follows one file and one PostgreSQL server from 1,000 accounts on. A \
            million accounts take about 20 GB and are made by importing them in pieces.
            """
    )

    static var bars: [any Benchmark.Type] { [ScaleBenchmark.self, CostBenchmark.self] }

    @OptionGroup var options: BenchOptions

    @Option(help: "How many accounts the large store has.")
    var accounts: Int?

    func run() throws {
        try options.run(Self.configuration.commandName, Self.bars) {
            $0.accounts = accounts ?? $0.scaled(1_000_000, quick: 10_000)
        }
    }
}

/// Lookups and sign-ins in a large store by turns with a small one.
enum ScaleBenchmark: Benchmark {
    static let name = "P4"

    private static let smallAccounts = 1_000

    /// So many that their pages do not fit into the cache, also in a short run.
    private static let distinctLookups = 5_000

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let small = try TokenStore.open(at: bench.place("small"))
        try small.fill(0..<smallAccounts, accessTokens: 5)
        let large = try TokenStore.open(at: bench.place("large"))
        try large.fill(0..<bench.accounts, accessTokens: 5) { ProgressLine.show($0, of: bench.accounts) }
        add(try lookups(bench, large, small, isRepeated: true))
        add(try lookups(bench, large, small, isRepeated: false))
        add(try signIns(bench, large, small))
        add(try floorLookups(bench, large, small))
    }

    private static func lookups(
        _ bench: Bench,
        _ large: TokenStore,
        _ small: TokenStore,
        isRepeated: Bool
    ) throws -> ReportRow {
        let numbers = numbers(isRepeated ? 400 : distinctLookups, of: bench)
        let queries = numbers.map { SampleAccount($0).query($0 % 5) }
        let smallQueries = numbers.map { SampleAccount($0 % smallAccounts).query($0 % 5) }
        func look(_ query: TokenQuery, in store: TokenStore) throws {
            guard case .usable = try isRepeated ? store.cachedToken(for: query) : store.storedToken(for: query) else {
                throw BenchFailure("the store does not find a token")
            }
        }
        // Once before, so that the store is measured and not the first access to the disk.
        for query in queries { try look(query, in: large) }
        let measurement = PairedMeasurement(rounds: bench.rounds, turns: bench.scaled(50, quick: 10))
        let outcome = try measurement.run(pieces: 400) { piece in
            try look(queries[piece % queries.count], in: large)
        } floor: { piece in
            try look(smallQueries[piece % queries.count], in: small)
        }
        return row(isRepeated ? "repeated lookup" : "lookup", bench, .microseconds, outcome)
    }

    /// The accounts that are looked up, the same in each language.
    private static func numbers(_ count: Int, of bench: Bench) -> [Int] {
        var random = RandomText(seed: 4)
        return (0..<count).map { _ in Int.random(in: 0..<bench.accounts, using: &random) }
    }

    /// The lookups of any account in C: what the pages of a larger file cost each program that reads it by SQLite.
    ///
    /// The last one, as the store cannot open the tokens afterwards.
    private static func floorLookups(_ bench: Bench, _ large: TokenStore, _ small: TokenStore) throws -> ReportRow {
        let numbers = numbers(distinctLookups, of: bench)
        let (largeFloor, smallFloor) = (try Baseline(large.path), try Baseline(small.path))
        for number in Set(numbers) { try largeFloor.adopt(SampleAccount(number)) }
        for number in Set(numbers.map { $0 % smallAccounts }) { try smallFloor.adopt(SampleAccount(number)) }
        let lookups = numbers.map { Baseline.lookup(of: SampleAccount($0), $0 % 5) }
        let smallLookups = numbers.map { Baseline.lookup(of: SampleAccount($0 % smallAccounts), $0 % 5) }
        for lookup in lookups { try largeFloor.look(lookup) }
        let measurement = PairedMeasurement(rounds: bench.rounds, turns: bench.scaled(50, quick: 10))
        let outcome = try measurement.run(pieces: 400) { piece in
            try largeFloor.look(lookups[piece % lookups.count])
        } floor: { piece in
            try smallFloor.look(smallLookups[piece % smallLookups.count])
        }
        let text = "lookup in C, \(bench.accounts) accounts with 5 tokens for APIs"
        return ReportRow(name, text, unit: .microseconds, outcome, floor: "\(smallAccounts) accounts")
    }

    private static func signIns(_ bench: Bench, _ large: TokenStore, _ small: TokenStore) throws -> ReportRow {
        let turns = bench.scaled(20, quick: 4)
        let pieces = 50
        let responses = (0..<bench.rounds * turns * pieces).map { SampleAccount(bench.accounts + $0).response }
        let request = try SampleAccount.request()
        let outcome = try PairedMeasurement(rounds: bench.rounds, turns: turns).run(pieces: pieces) { piece in
            try large.save(responses[piece], for: request)
        } floor: { piece in
            try small.save(responses[piece], for: request)
        }
        return row("sign-in", bench, .microseconds, outcome)
    }

    private static func row(
        _ work: String,
        _ bench: Bench,
        _ unit: ReportRow.Unit,
        _ outcome: PairedMeasurement.Outcome
    ) -> ReportRow {
        let text = "\(work), \(bench.accounts) accounts with 5 tokens for APIs"
        return ReportRow(name, text, unit: unit, outcome, floor: "\(smallAccounts) accounts", limit: .ratio(1.3))
    }
}

enum ProgressLine {
    /// Says on a terminal how many accounts have been made.
    static func show(_ done: Int, of total: Int) {
        guard isatty(2) == 1 else { return }
        let text = "\r\(done) of \(total) accounts" + (done < total ? "" : "\n")
        _ = text.withCString { write(2, $0, strlen($0)) }
    }
}
