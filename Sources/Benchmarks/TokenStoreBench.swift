import ArgumentParser
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@main
struct TokenStoreBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokenstore-bench",
        abstract: "Measures the token store beside a floor in C, and tries to break it.",
        discussion: """
            Every figure is compared with the cost of the bare work, measured in the same run by turns; machines \
            differ and are noisy, ratios less so. Other programs that do the same work are measured right after it, \
            where they are installed: MSAL for Python with msal-extensions, and oidc-agent.

            The sanitizers over the whole test suite (R9) are not part of this program:
              swift test --sanitize=thread --scratch-path .build-tsan
              ASAN_OPTIONS=detect_leaks=0 swift test --sanitize=address --scratch-path .build-asan
            """,
        subcommands: [
            SpeedCommand.self, ScaleCommand.self, TortureCommand.self, FleetCommand.self, ReportCommand.self,
            ChildCommand.self,
        ]
    )
}

/// One entry of the list of what the store has to reach; a new one is a new file and its name in a command's list.
protocol Benchmark {
    /// The name in the list, such as `P2`.
    static var name: String { get }

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws
}

/// Where measurements happen and how long they may take.
struct Bench {
    let directory: RunDirectory
    let isQuick: Bool
    var rounds: Int
    var tool = ""
    var msal: MSALPython?
    var oidcAgent: OIDCAgent?
    var accounts = 0
    var counts: [String: Int] = [:]
    var seed: UInt64 = 0

    /// `full`, or less where only a sign of life is wanted.
    func scaled(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }

    /// How many times to try something that was counted on the command line.
    func count(_ bar: String, full: Int, quick: Int) -> Int { counts[bar] ?? scaled(full, quick: quick) }

    /// How long a program takes, once for each round.
    func seconds(_ child: ChildProcess) throws -> [Double] {
        try (0..<rounds).map { _ in
            let turns = try (0..<scaled(50, quick: 10)).map { _ in
                let ended = try child.run()
                guard ended.isSuccess else { throw BenchFailure("\(child.program) failed") }
                return ended.seconds
            }
            return Spread(turns).median
        }
    }

    /// A new directory for one bar.
    func place(_ name: String) throws -> StorePath { try directory.store(name) }
}

/// What every measuring command takes.
struct BenchOptions: ParsableArguments {
    @Flag(help: "Print one JSON document.")
    var json = false

    @Flag(help: "Short counts, for a sign of life.")
    var quick = false

    @Option(help: "Rounds, whose median and spread are printed.")
    var rounds = 7

    @Option(help: "Only these bars, separated by commas.")
    var only: String?

    @Option(help: "Where stores are made; a directory on the disk to measure.")
    var directory: String?

    @Option(help: "A file to whose end the run is added, a line of JSON for 'tokenstore-bench report'.")
    var record: String?

    /// Measures what was asked for and prints it.
    ///
    /// - Returns: the rows.
    @discardableResult
    func run(
        _ command: String?,
        _ bars: [any Benchmark.Type],
        _ prepare: (inout Bench) throws -> Void = { _ in }
    ) throws -> [ReportRow] {
        let wanted = only.map { Set($0.split(separator: ",").map { $0.uppercased() }) }
        let scratch = try RunDirectory(in: directory)
        defer { scratch.remove() }
        var bench = Bench(directory: scratch, isQuick: quick, rounds: max(rounds, 5))
        try prepare(&bench)
        var report = Report(isJSON: json)
        let start = Date.now
        let measured = Result {
            for bar in bars where wanted?.contains(bar.name) ?? true {
                try bar.measure(bench) { report.add($0) }
            }
        }
        // A run that failed keeps what it had measured until then.
        if let record {
            try RunRecord(
                command: command ?? "",
                date: start,
                isQuick: quick,
                rounds: bench.rounds,
                isDebugBuild: Versions.isDebugBuild,
                machine: .current,
                versions: Versions.current,
                rows: report.rows
            )
            .append(to: record)
        }
        try measured.get()
        try report.finish()
        return report.rows
    }
}
