import Database
import OAuth
import TestSupport
import TokenStorage

/// Lookups on a server with many accounts by turns with one that has few.
enum FleetScaleBenchmark: Benchmark {
    static let name = "F4"
    private static let smallCount = 1_000
    private static let bar = 1.35

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let (large, small) = (try FleetServer(bench), try FleetServer(bench))
        defer {
            large.stop()
            small.stop()
        }
        // Those that are looked up; the others only stand between them.
        let asked = bench.scaled(20_000, quick: smallCount)
        try small.fill(0..<smallCount, accessTokens: 5)
        try large.fill(0..<asked, accessTokens: 5)
        try large.multiply(1..<max(2, bench.accounts / asked))
        let (ours, theirs) = (try large.open(), try small.open())
        var random = RandomText(seed: 4)
        let queries = (0..<1_000).map { _ in
            SampleAccount(Int.random(in: 0..<asked, using: &random)).query(Int.random(in: 0..<5, using: &random))
        }
        let few = queries.indices.map { SampleAccount($0 % smallCount).query($0 % 5) }
        let measurement = PairedMeasurement(rounds: bench.rounds, turns: bench.scaled(5, quick: 1))
        let outcome = try AwakeProcessors.run {
            try measurement.run(pieces: queries.count) { piece in
                try look(ours, queries[piece % queries.count])
            } floor: { piece in
                try look(theirs, few[piece % few.count])
            }
        }
        let work = "lookup on a server with \(bench.accounts) accounts of 5 tokens"
        let floor = "with \(smallCount)"
        add(ReportRow(name, work, unit: .microseconds, outcome, floor: floor, limit: .ratio(bar)))
    }

    private static func look(_ store: TokenStore, _ query: TokenQuery) throws {
        guard case .usable = try store.storedToken(for: query) else {
            throw BenchFailure("the store does not find a token")
        }
    }
}

extension FleetServer {
    /// Makes copies of the accounts that were there at the first call, by the server's own means.
    ///
    /// No program can open the copies' values, which are sealed for others; they take their place in tables and
    /// indexes. A number of a copy is used once.
    func multiply(_ copies: Range<Int>) throws {
        let connection = try connect()
        connection.patience = .seconds(3_600)
        try connection.execute("CREATE TABLE IF NOT EXISTS asked AS SELECT id FROM account; ANALYZE asked")
        for copy in copies {
            let id = "(asked.id # \(FleetWritersBenchmark.spread(UInt64(copy))))"
            let key = "md5(asked.id || '-\(copy)')"
            try copyRows(of: "account", ["id": id, "account_key": key, "home_account_id": key], connection)
            for table in ["access_token", "account_state"] { try copyRows(of: table, ["account_id": id], connection) }
        }
        try connection.execute("VACUUM ANALYZE")
    }

    private func copyRows(
        of table: String,
        _ replacements: [String: String],
        _ connection: PostgreSQL.Connection
    ) throws {
        let names = try connection.all(
            """
            SELECT column_name::text FROM information_schema.columns
            WHERE table_schema = current_schema AND table_name = ?1 ORDER BY ordinal_position
            """,
            .text(table)
        ) { $0.text(0) }
        let values = names.map { replacements[$0] ?? "t.\($0)" }
        try connection.execute(
            """
            INSERT INTO \(table) (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", "))
            FROM \(table) t JOIN asked ON asked.id = t.\(table == "account" ? "id" : "account_id")
            """
        )
    }
}
