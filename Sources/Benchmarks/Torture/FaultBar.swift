import TokenStorage

/// Disk full, I/O errors and a read-only disk, at every write of every kind of change.
enum FaultBar: Bar {
    static let name = "R8"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let path = try bench.place("faults")
        let pipe = try Pipe()
        let child = try ChildProcess.this("faults", path.directory, "\(bench.scaled(1, quick: 9))").start(
            output: pipe.writing
        )
        pipe.closeWriting()
        var found = Findings()
        found.take(String(decoding: pipe.rest(), as: UTF8.self))
        found.take(try child.wait())
        found.explain()
        let failures = found.counts.values.reduce(0, +)
        add(ReportRow(name, "writes that fail: changes not undone as a whole", failures: failures, of: found.cases))
        try FullDisk(bench)?.measure(add)
    }
}
