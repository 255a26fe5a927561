import TokenStorage

/// Many processes open a store that does not exist yet.
enum FirstOpenBar: Bar {
    static let name = "R5"
    private static let processes = 24

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let rounds = bench.count(name, full: 200, quick: 6)
        var failed = 0
        for round in 0..<rounds {
            let path = try bench.place("first")
            // With no sign-ins half of the time: then opening is all that happens.
            let count = round.isMultiple(of: 2) ? "0" : "1"
            failed += try Gate.run(
                (0..<processes).map { ChildProcess.this("sign-in", path.database, "\($0)", count) }
            )
            let store = try TokenStore.open(at: path)
            let accounts = try store.accounts().count
            failed += try abs(accounts - (count == "0" ? 0 : processes)) + store.check().count
        }
        let work = "\(rounds) rounds of \(processes) processes opening a store that is not there"
        add(ReportRow(name, work, failures: failed, of: rounds * processes))
    }
}
