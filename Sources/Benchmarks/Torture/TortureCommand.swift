import ArgumentParser

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

struct TortureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture",
        abstract: "Kills, crowds, floods and damages stores, and counts what went wrong.",
        discussion: "Exits with 1 if anything did."
    )

    static var bars: [any Benchmark.Type] {
        [
            KillBenchmark.self, SingleRefreshBenchmark.self, HolderBenchmark.self, CrowdBenchmark.self,
            FirstOpenBenchmark.self,
            PlantedSecretsBenchmark.self, DamageBenchmark.self, FaultBenchmark.self, BrokenIssuerBenchmark.self,
            ShellBenchmark.self,
            AnswerBenchmark.self, RepairBenchmark.self, EditBenchmark.self, WalksBenchmark.self,
        ]
    }

    @OptionGroup var options: BenchOptions
    @OptionGroup var tool: ToolOption
    @OptionGroup var peers: PeerOption

    @Option(help: "How many times a writer is killed (R1); 1,000 unless --quick.")
    var kills: Int?

    @Option(help: "How many rounds of 64 processes ask for one expired token (R2); 20 unless --quick.")
    var races: Int?

    @Option(
        help:
            "How many times the holder of the refresh lock is killed or stopped at each moment (R3); 10 unless --quick."
    )
    var holders: Int?

    @Option(help: "How many processes sign in at once (R4); 128 unless --quick.")
    var processes: Int?

    @Option(help: "How many times a new store is opened by 24 processes (R5); 200 unless --quick.")
    var opens: Int?

    @Option(help: "How many damaged files are read (R7); 100,000 unless --quick.")
    var cases: Int?

    @Option(help: "How many random edits are made to a store (R11); 20,000 unless --quick.")
    var edits: Int?

    @Option(help: "Another number draws other edits (R11).")
    var seed: UInt64 = 11

    @Option(help: "How many random tokens go through each shell (R12); 10,000 unless --quick.")
    var tokens: Int?

    @Option(help: "How many refreshes are cut off between answer and commit (R13); 1,000 unless --quick.")
    var answers: Int?

    @Option(help: "How many random walks through native authentication are taken (WALKS); 10,000 unless --quick.")
    var walks: Int?

    @Option(help: "How many times each kind of damage to each schema version is repaired (R14); 10 unless --quick.")
    var repairs: Int?

    func run() throws {
        let rows = try options.run(Self.configuration.commandName, Self.bars) {
            $0.tool = tool.path
            $0.seed = seed
            try $0.findPeers(peers)
            let counts = [
                "R1": kills, "R2": races, "R3": holders, "R4": processes, "R5": opens, "R7": cases, "R11": edits,
                "R12": tokens, "R13": answers, "R14": repairs, "WALKS": walks,
            ]
            $0.counts = counts.compactMapValues(\.self)
        }
        if rows.contains(where: { $0.value.greatest > 0 }) { throw ExitCode.failure }
    }
}

/// What children that try many things report, a line each: `case NUMBER`, or the name of a problem and a text.
struct Violations {
    enum Problem: String, CaseIterable {
        case crash
        case hang
        case untyped = "an error of no type of ours"
        case silence = "no accounts, as if all were well"
        case touched = "a file changed by looking at it"
        case broken = "a store that is not sound afterwards"
    }

    private(set) var counts: [Problem: Int] = [:]
    private(set) var cases = 0
    private var examples: [String] = []
    private var latest = ""

    /// Reports to the parent.
    static func say(_ line: String) {
        let line = line.split(separator: "\n").joined(separator: " ") + "\n"
        _ = line.withCString { write(1, $0, strlen($0)) }
    }

    static func say(_ problem: Problem, _ text: String) { say("\(problem) \(text)") }

    static func explain(_ text: String) {
        let line = text + "\n"
        _ = line.withCString { write(2, $0, strlen($0)) }
    }

    mutating func take(_ lines: String) {
        for line in lines.split(separator: "\n") {
            let name = line.prefix { $0 != " " }
            let problem = Problem.allCases.first { "\($0)" == name }
            if let problem {
                add(problem, latest + ": " + line)
            } else {
                latest = String(line)
                cases += 1
            }
        }
    }

    mutating func take(_ end: ChildProcess.Ended) {
        if end.isSuccess { return }
        if end.signal == SIGALRM {
            add(.hang, latest)
        } else {
            add(.crash, "\(latest), \(end.signal.map { "signal \($0)" } ?? "exit \(end.code ?? 0)")")
        }
    }

    /// Prints the first few problems to standard error.
    func explain() {
        for example in examples { Self.explain(example) }
    }

    private mutating func add(_ problem: Problem, _ text: String) {
        counts[problem, default: 0] += 1
        if examples.count < 20 { examples.append(text) }
    }
}
