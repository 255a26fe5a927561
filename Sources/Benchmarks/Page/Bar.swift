/// An entry of the list of what the store has to reach, measured or not.
struct Bar {
    /// The plot in which it stands beside others of its kind.
    enum Kind {
        case floor
        case cost
        case race
        case fault

        /// A figure that only the table shows.
        case figure
    }

    let id: String
    let title: String
    let kind: Kind

    /// What measures it.
    let command: String

    /// A bar of which a run has rows that this list does not know.
    init(unknown id: String) { self.init(id, "", .figure, "") }

    private init(_ id: String, _ title: String, _ kind: Kind, _ command: String) {
        (self.id, self.title, self.kind, self.command) = (id, title, kind, command)
    }

    /// In the order of the page.
    static let all = speed + torture + fleet

    private static let speed = [
        Bar("P1", "the same usable token again", .floor, "speed"),
        Bar("P2", "the first lookup in a process", .floor, "speed"),
        Bar("P3", "one sign-in in one durable commit", .floor, "speed"),
        Bar("P4", "lookups and sign-ins in a large file", .floor, "scale"),
        Bar("P5", "tokenstore list, whole process", .floor, "speed"),
        Bar("P6", "tokenstore token, whole process", .floor, "speed"),
        Bar("P7", "tokenstore list --json, whole process", .floor, "speed"),
        Bar("P8", "claim query among many accounts", .figure, "speed"),
        Bar("P9", "import of an MSAL cache", .floor, "speed"),
        Bar("CALLS", "tokens in memory for many accounts", .figure, "speed"),
        Bar("P10", "64 processes on one machine, one expired token", .race, "speed"),
        Bar("IDP", "throughput of local-idp", .figure, "speed"),
        Bar(CostBenchmark.name, "cost against number of accounts", .cost, "scale"),
    ]

    private static let torture = [
        Bar("R1", "a writer is killed at random moments", .fault, "torture"),
        Bar("R2", "64 processes need one expired token", .fault, "torture"),
        Bar("R3", "the process that refreshes is killed or stopped", .fault, "torture"),
        Bar("R4", "128 processes sign in at once", .fault, "torture"),
        Bar("R5", "24 processes open a store that is not there yet", .fault, "torture"),
        Bar("R6", "planted secrets are searched for", .fault, "torture"),
        Bar("R7", "damaged databases, keys and documents", .fault, "torture"),
        Bar("R8", "full disk, read-only disk, failing writes", .fault, "torture"),
        Bar("R10", "issuers that hang, fail or send nonsense", .fault, "torture"),
        Bar("R11", "edits of a store without its key", .fault, "torture"),
        Bar("R12", "random tokens through three shells", .fault, "torture"),
        Bar("R13", "cut off between answer and commit", .fault, "torture"),
        Bar("R14", "damage to every schema version, then repair", .fault, "torture"),
        Bar("WALKS", "random walks through native authentication", .fault, "torture"),
    ]

    private static let fleet = [
        Bar("F1", "a lookup on a server", .floor, "fleet"),
        Bar("F2", "a sign-in on a server", .floor, "fleet"),
        Bar("F3", "a lookup that memory answers", .figure, "fleet"),
        Bar("F4", "lookups on a server with many accounts", .floor, "fleet"),
        Bar("F5", "round trips of a list", .figure, "fleet"),
        Bar("F6", "16 writers of different accounts", .floor, "fleet"),
        Bar("F7", "8 nodes of 8 processes, one expired token", .race, "fleet"),
        Bar("F8", "primary killed during a refresh", .fault, "fleet"),
        Bar("F9", "primary killed under 16 writers", .fault, "fleet"),
        Bar("F10", "connections cut at each message", .fault, "fleet"),
        Bar("F11", "sign-ins from 8 nodes at once", .fault, "fleet"),
        Bar("F12", "a sign-out reaches the other nodes", .figure, "fleet"),
        Bar("F13", "planted secrets on the server", .fault, "fleet"),
        Bar("F14", "rekeys under 8 writers", .fault, "fleet"),
    ]
}

/// What runs have measured of each bar.
struct Results {
    /// The oldest first.
    let runs: [RunRecord]
    private let rowsOfBar: [String: (run: Int, rows: [ReportRow])]

    /// Of each bar the newest run is shown, and a quick one only where there is no other.
    init(_ runs: [RunRecord]) {
        let runs = runs.sorted { $0.date < $1.date }
        var chosen: [String: (run: Int, rows: [ReportRow])] = [:]
        for (number, run) in runs.enumerated() {
            for (bar, rows) in Dictionary(grouping: run.rows, by: \.bar) {
                if let present = chosen[bar], run.isQuick, !runs[present.run].isQuick { continue }
                chosen[bar] = (number, rows)
            }
        }
        (self.runs, rowsOfBar) = (runs, chosen)
    }

    func rows(of bar: Bar) -> [ReportRow] { rowsOfBar[bar.id]?.rows ?? [] }

    /// The place in `runs` of the one that counts.
    func run(of bar: Bar) -> Int? { rowsOfBar[bar.id]?.run }

    func isQuick(_ bar: Bar) -> Bool { run(of: bar).map { runs[$0].isQuick } ?? false }

    /// Those of the list, and behind them those that only the runs know.
    var bars: [Bar] {
        let known = Set(Bar.all.map(\.id))
        return Bar.all + rowsOfBar.keys.filter { !known.contains($0) }.sorted().map { Bar(unknown: $0) }
    }

    func bars(_ kind: Bar.Kind) -> [Bar] { bars.filter { $0.kind == kind } }

    private var allRows: [ReportRow] { bars.flatMap { rows(of: $0) } }
    var met: Int { allRows.count { $0.isMet == true } }
    var missed: Int { allRows.count { $0.isMet == false } }
    var missing: [Bar] { bars.filter { rows(of: $0).isEmpty } }
}
