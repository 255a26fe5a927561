import Database
import OAuth
import TestSupport
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Planted secrets are in none of what a server keeps, logs and shows, nor in what a program says of it.
enum FleetSecretsBenchmark: Benchmark {
    static let name = "F13"
    private static let password = "planted-password"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let fleet = try FleetServer(
            bench,
            [
                "log_statement = 'all'", "log_min_duration_statement = 0", "log_parameter_max_length = -1",
                "log_parameter_max_length_on_error = -1", "track_activity_query_size = 1048576",
            ]
        )
        defer { fleet.stop() }
        var search = SecretSearch()
        search.plant(Array(password.utf8))
        let said = try use(fleet, accounts: bench.scaled(200, quick: 20), &search)
        var leaks: [String] = []
        for (index, text) in said.enumerated() where search.isLeaked(by: text) { leaks.append("text \(index)") }
        // Tables and the write-ahead log.
        leaks += try search.leaks(in: fleet.server.directory + "/data")
        if search.isLeaked(by: fleet.server.log) { leaks.append("the server's log") }
        let dump = try bench.place("dump").directory
        try fleet.dump(to: dump + "/dump.sql")
        leaks += try search.leaks(in: dump)
        for leak in leaks { Violations.explain("a secret is in \(leak)") }
        let work = "planted secrets in tables, write-ahead log, server log, pg_dump, pg_stat_activity, errors"
        add(ReportRow(name, work, failures: leaks.count, of: search.searches))
    }

    /// Does what programs do with a store.
    ///
    /// - Returns: what was said and shown.
    private static func use(_ fleet: FleetServer, accounts: Int, _ search: inout SecretSearch) throws -> [String] {
        let store = try fleet.open(.tcp)
        let request = try SampleAccount.request()
        for number in 0..<accounts {
            var account = SampleAccount(number)
            for generation in 0..<2 {
                account.generation = UInt64(generation)
                for secret in [account.accessToken(0), account.refreshToken, account.idToken] { search.plant(secret) }
                try store.save(account.response, for: request)
            }
            _ = try store.storedToken(for: account.query())
        }
        _ = try store.accounts(matching: .claim("team", equals: .string("team-0")))
        // The role of programs may not touch keys.
        _ = try fleet.open().rekey()
        var shown = [try fleet.activity()]
        _ = try store.check()
        _ = try store.purge(.claim("team", equals: .string("team-1")))
        shown += errors(fleet)
        // A table that lacks a column: the statement fails with all its values.
        try fleet.connect().execute("ALTER TABLE access_token RENAME secret TO hidden")
        shown.append(message { try store.save(SampleAccount(accounts).response, for: request) })
        return shown + [try fleet.activity()]
    }

    /// What a program says of servers that it cannot use.
    private static func errors(_ fleet: FleetServer) -> [String] {
        let port = fleet.server.port
        let places = [
            "app:\(password)-wrong@127.0.0.1:\(port)/tests", "app:\(password)@127.0.0.1:\(port)/nowhere",
            "app:\(password)@127.0.0.1:1/tests", "app:\(password)@[::/tests", "app:\(password)@127.0.0.1:\(port)/tests",
        ]
        return places.map { place in
            message { _ = try TokenStore.open(at: StoreLocation("postgresql://" + place)) }
        }
    }

    private static func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return "\(error) \(String(reflecting: error))"
        }
    }
}

extension FleetServer {
    /// What the server shows of all sessions.
    fileprivate func activity() throws -> String {
        let question = "SELECT coalesce(string_agg(query, ' '), '') FROM pg_stat_activity"
        return try connect().prepare(question).first([]) { $0.text(0) } ?? ""
    }

    /// Writes what `pg_dump` makes of the database.
    fileprivate func dump(to file: String) throws {
        let places = ["/usr/lib/postgresql/15/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        let program = places.map { $0 + "/pg_dump" }.first(where: FileManager.default.isExecutableFile)
        guard let program else { throw BenchFailure("pg_dump is missing") }
        let arguments = ["-h", server.directory, "-p", "\(server.port)", "-U", "owner", "-f", file, "tests"]
        guard try ChildProcess(program, arguments).run().isSuccess else { throw BenchFailure("pg_dump failed") }
    }
}
