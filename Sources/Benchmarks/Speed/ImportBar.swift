import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An MSAL cache of 10,000 accounts taken in, by a process of its own.
enum ImportBar: Bar {
    static let name = "P9"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = bench.scaled(10_000, quick: 1_000)
        let place = try bench.place("import")
        let file = place.directory + "/cache.json"
        let document = MSALDocument(accounts: 0..<accounts, accessTokens: 1).bytes
        try Data(document).write(to: URL(fileURLWithPath: file))
        let megabytes = Double(document.count) / 1e6
        var times: [Double] = []
        var peaks: [Double] = []
        for round in 0..<min(bench.rounds, bench.scaled(5, quick: 2)) {
            let store = try bench.place("import-\(round)")
            let ended = try ChildProcess.this("import", store.database, file).run()
            guard ended.isSuccess else { throw BenchFailure("the import failed") }
            times.append(ended.seconds)
            let other = try bench.place("peak-\(round)")
            peaks.append(try ChildProcess.this("import", other.database, file).peakMegabytes())
        }
        let work = "import of an MSAL cache, \(accounts) accounts, \(Int(megabytes.rounded())) MB"
        add(ReportRow(name, work + ", whole process", unit: .seconds, value: Spread(times), limit: "≤ 3 s"))
        var memory = ReportRow(name, work + ", peak memory", unit: .megabytes, value: Spread(peaks), limit: "≤ 8")
        memory.floor = Spread(megabytes)
        memory.floorName = "the file"
        memory.ratio = Spread(peaks.map { $0 / megabytes })
        add(memory)
    }
}
