import ArgumentParser

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

    /// Measures what was asked for and prints it.
    ///
    /// - Returns: the rows.
    @discardableResult
    func run(_ bars: [any Bar.Type], _ prepare: (inout Bench) throws -> Void = { _ in }) throws -> [ReportRow] {
        let wanted = only.map { Set($0.split(separator: ",").map { $0.uppercased() }) }
        let scratch = try ScratchDirectory(in: directory)
        defer { scratch.remove() }
        var bench = Bench(directory: scratch, isQuick: quick, rounds: max(rounds, 5))
        try prepare(&bench)
        var report = Report(isJSON: json)
        for bar in bars where wanted?.contains(bar.name) ?? true {
            try bar.measure(bench) { report.add($0) }
        }
        try report.finish()
        return report.rows
    }
}
