import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An MSAL cache of 10,000 accounts imported by a separate process.
enum ImportBenchmark: Benchmark {
    static let name = "P9"

    private struct Cost {
        let seconds: Double
        let megabytes: Double

        /// Memory is measured in a second run, by way of another process.
        init(_ child: () throws -> ChildProcess) throws {
            let ended = try child().run()
            guard ended.isSuccess else { throw BenchFailure("the import failed") }
            seconds = ended.seconds
            megabytes = try child().peakMegabytes()
        }
    }

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = bench.scaled(10_000, quick: 1_000)
        let file = try bench.place("import").directory + "/cache.json"
        let document = MSALDocument(accounts: 0..<accounts, accessTokens: 1).bytes
        try Data(document).write(to: URL(fileURLWithPath: file))
        var (ours, theirs): ([Cost], [Cost]) = ([], [])
        for _ in 0..<bench.scaled(bench.rounds, quick: 2) {
            ours.append(try Cost { try .this("import", bench.place("imported").database, file) })
            guard let msal = bench.msal else { continue }
            theirs.append(
                try Cost { try msal.child("take_in", [file, bench.place("msal").directory + "/cache.json"]) }
            )
        }
        let megabytes = Double(document.count) / 1e6
        let work = "import of an MSAL cache, \(accounts) accounts, \(Int(megabytes.rounded())) MB"
        let remark = "read, and written to its cache"
        func peer(_ unit: ReportRow.Unit, _ values: [Double]) -> [PeerFigure] {
            [PeerFigure(bench.msal, remark, unit: unit, bench.msal.map { _ in values })]
        }
        let times = Spread(ours.map(\.seconds))
        var time = ReportRow(name, work + ", whole process", unit: .seconds, value: times, limit: .value(3))
        time.peers = peer(.seconds, theirs.map(\.seconds))
        add(time)
        let peaks = ours.map(\.megabytes)
        var memory = ReportRow(
            name,
            work + ", peak memory",
            unit: .megabytes,
            value: Spread(peaks),
            floor: Spread(megabytes),
            named: "the file",
            ratio: Spread(peaks.map { $0 / megabytes }),
            limit: .ratio(8)
        )
        memory.peers = peer(.megabytes, theirs.map(\.megabytes))
        add(memory)
    }
}
