import TokenStorage

/// Stores, keys and documents with random damage: a typed error or the truth, and nothing touched.
enum DamageBar: Bar {
    static let name = "R7"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let cases = bench.count(name, full: 100_000, quick: 800)
        var found = Findings()
        var next = 0
        while next < cases {
            let count = min(2_000, cases - next)
            let path = try bench.place("damage")
            let pipe = try Pipe()
            let child = try ChildProcess.this("damage", path.directory, "\(next)", "\(count)")
                .start(output: pipe.writing)
            pipe.closeWriting()
            found.take(String(decoding: pipe.rest(), as: UTF8.self))
            found.take(try child.wait())
            next += count
        }
        found.explain()
        for problem in Findings.Problem.allCases {
            add(
                ReportRow(
                    name,
                    "damaged database, key or document: \(problem.rawValue)",
                    failures: found.counts[problem] ?? 0,
                    of: cases
                )
            )
        }
    }
}
