import Foundation
import TestSupport
import Testing
import TokenStorage

@testable import Benchmarks

struct RunRecordTests {
    @Test func `runs are added to a file and read again as they were`() throws {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/runs.jsonl"
        let runs = [RunRecord.sample(), .sample(.everyKind, isQuick: true, seconds: 60)]
        for run in runs { try run.append(to: file) }
        #expect(try RunRecord.runs(in: file) == runs)
        #expect(try Data(contentsOf: URL(filePath: file)).count { $0 == UInt8(ascii: "\n") } == 2)
    }

    @Test(arguments: ["{}", "[1", #"{"format":1}"#])
    func `a line that is not a run is named`(_ line: String) throws {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/runs.jsonl"
        try RunRecord.sample().append(to: file)
        try Data(try Data(contentsOf: URL(filePath: file)) + Data(line.utf8)).write(to: URL(filePath: file))
        let failure = #expect(throws: BenchFailure.self) { try RunRecord.runs(in: file) }
        #expect(failure?.description == "\(file), line 2: not a run of tokenstore-bench with --record")
    }

    @Test func `a file of a later format is refused`() throws {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/runs.jsonl"
        try RunRecord.sample().append(to: file)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try Data(text.replacing(#""format":1"#, with: #""format":2"#).utf8).write(to: URL(filePath: file))
        let failure = #expect(throws: BenchFailure.self) { try RunRecord.runs(in: file) }
        #expect(failure?.description == "\(file), line 1: format 2 is not known")
    }

    @Test func `this machine and what is measured on it have names`() {
        let machine = Machine.current
        #expect(!machine.processor.isEmpty)
        #expect(machine.cores > 0)
        #expect(machine.memoryBytes > 1 << 20)
        #expect(!machine.system.isEmpty)
        #expect(Versions.current["SQLite"]?.hasPrefix("3.") == true)
        #expect(Versions.current["tokenstore"]?.hasPrefix(TokenStore.version) == true)
    }
}

extension RunRecord {
    static func sample(_ rows: [ReportRow] = [], isQuick: Bool = false, isDebugBuild: Bool = false, seconds: Double = 0)
        -> RunRecord
    {
        RunRecord(
            command: "speed",
            date: Date(timeIntervalSince1970: 1_790_000_000 + seconds),
            isQuick: isQuick,
            rounds: 7,
            isDebugBuild: isDebugBuild,
            machine: Machine(processor: "Abacus", cores: 2, memoryBytes: 24 << 30, system: "Linux 6"),
            versions: ["SQLite": "3.40.1"],
            rows: rows
        )
    }
}

extension [ReportRow] {
    /// A row for each plot.
    static var everyKind: [ReportRow] {
        let figure = Spread([1, 2, 3])
        let ratio = ReportRow(
            "P2",
            "lookup",
            unit: .microseconds,
            value: figure,
            floor: figure,
            named: "in C",
            ratio: Spread([1, 2, 4]),
            limit: .ratio(1.25)
        )
        var cost = ReportRow("SCALE", "lookup", unit: .microseconds, value: Spread([9, 10, 11]))
        cost.cost = CostPoint(operation: .lookup, engine: .sqlite, accounts: 10_000)
        var race = ReportRow("P10", "race", unit: .milliseconds, value: Spread([300, 400, 500]), limit: .value(550))
        race.each = [100, 200, 300, 400]
        return [
            ratio, cost, race, ReportRow("R1", "damaged", failures: 0, of: 1_000),
            ReportRow("R2", "without it", failures: 3, of: 60),
        ]
    }
}
