import TokenStorage

/// `tokenstore list` as a whole process, beside a process that does nothing.
enum ListProcessBenchmark: Benchmark {
    static let name = "P5"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let path = try bench.place("list")
        try TokenStore.open(at: path).fill(0..<10, accessTokens: 1)
        let list = try bench.tool("list", "--store", path.database)
        let nothing = ChildProcess("/bin/true", [])
        let outcome = try PairedMeasurement(rounds: bench.rounds, turns: bench.scaled(100, quick: 20)).run { _ in
            guard try list.run().isSuccess else { throw BenchFailure("tokenstore list failed") }
        } floor: { _ in
            _ = try nothing.run()
        }
        let work = "tokenstore list of 10 accounts, whole process"
        var row = ReportRow(name, work, unit: .milliseconds, outcome, floor: "true", limit: Limit(value: 10, ratio: 8))
        let session = try bench.oidcAgent.map { try OIDCAgentSession($0, bench, accounts: 10) }
        let times = try session.map { try bench.seconds($0.list) }
        row.peers = [PeerFigure(bench.oidcAgent, "names of 10 accounts in its daemon", unit: .milliseconds, times)]
        add(row)
    }
}

/// `tokenstore token` with a token in the store, as a whole process.
enum TokenProcessBenchmark: Benchmark {
    static let name = "P6"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let path = try bench.place("token")
        try TokenStore.open(at: path).fill(0..<10, accessTokens: 1)
        let account = SampleAccount(3).homeAccountID
        let token = try bench.tool(
            "token",
            "--account",
            account,
            "--scope",
            SampleAccount.scope(0),
            "--store",
            path.database
        )
        let nothing = ChildProcess("/bin/true", [])
        let outcome = try PairedMeasurement(rounds: bench.rounds, turns: bench.scaled(100, quick: 20)).run { _ in
            guard try token.run().isSuccess else { throw BenchFailure("tokenstore token failed") }
        } floor: { _ in
            _ = try nothing.run()
        }
        let work = "tokenstore token, from the store, whole process"
        var row = ReportRow(name, work, unit: .milliseconds, outcome, floor: "true", limit: .value(12))
        let session = try bench.oidcAgent.map { try OIDCAgentSession($0, bench, accounts: 1) }
        let hot = try session.map { try bench.seconds($0.token) }
        let cold = try session.map { session in try (0..<bench.rounds).map { _ in try session.coldSeconds() } }
        row.peers = [
            PeerFigure(bench.oidcAgent, "from its running daemon", unit: .milliseconds, hot),
            PeerFigure(bench.oidcAgent, "with its daemon's start", unit: .milliseconds, cold),
        ]
        add(row)
    }
}

/// `tokenstore list --json` of many accounts, beside the sqlite3 shell writing the same columns as JSON.
enum ListJSONBenchmark: Benchmark {
    static let name = "P7"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let path = try filled(bench, accounts: 10_000)
        let list = try bench.tool("list", "--json", "--store", path.database)
        let shell = ChildProcess("/usr/bin/env", ["sqlite3", "-readonly", "-json", path.database, dump])
        let outcome = try PairedMeasurement(rounds: bench.rounds, turns: bench.scaled(5, quick: 1)).run { _ in
            guard try list.run().isSuccess else { throw BenchFailure("tokenstore list failed") }
        } floor: { _ in
            guard try shell.run().isSuccess else { throw BenchFailure("the sqlite3 shell failed; is it installed?") }
        }
        let work = "tokenstore list --json of 10000 accounts, whole process"
        add(ReportRow(name, work, unit: .milliseconds, outcome, floor: "sqlite3 -json", limit: .ratio(3)))
        try measureMemory(bench, add)
    }

    /// Peak memory at two sizes; what grows with the number of accounts shows in the ratio.
    private static func measureMemory(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        var peaks: [[Double]] = []
        for accounts in [20_000, 1_000] {
            let path = try filled(bench, accounts: accounts)
            let list = try bench.tool("list", "--json", "--store", path.database)
            peaks.append(try (0..<5).map { _ in try list.peakMegabytes() })
        }
        let row = ReportRow(
            name,
            "tokenstore list --json of 20000 accounts, peak memory",
            unit: .megabytes,
            value: Spread(peaks[0]),
            floor: Spread(peaks[1]),
            named: "1000 accounts",
            ratio: Spread(zip(peaks[0], peaks[1]).map { $0 / $1 }),
            limit: .flat
        )
        add(row)
    }

    private static func filled(_ bench: Bench, accounts: Int) throws -> StorePath {
        let path = try bench.place("list-\(accounts)")
        try TokenStore.open(at: path).fill(0..<accounts, accessTokens: 2)
        return path
    }

    /// Every column that the list shows, as far as it is in the clear: names are sealed, and left out here.
    private static let dump = """
        SELECT a.home_account_id, a.authority, a.environment, a.issuer, a.username, a.policy,
            (SELECT json_group_array(json_object('tenant', p.realm_fold, 'id', p.local_account_id))
                FROM tenant_profile p WHERE p.account_id = a.id) AS tenants,
            (SELECT json_group_array(DISTINCT c.client_id) FROM (
                SELECT client_id FROM id_token WHERE account_id = a.id
                UNION ALL SELECT client_id FROM refresh_token WHERE account_id = a.id
                UNION ALL SELECT client_id FROM access_token WHERE account_id = a.id) c) AS clients,
            EXISTS (SELECT 1 FROM refresh_token r WHERE r.account_id = a.id) AS has_refresh_token,
            (SELECT max(s.state = 'signed_in') FROM account_state s WHERE s.account_id = a.id) AS state,
            (SELECT count(*) FILTER (WHERE t.expires_on > unixepoch()) FROM access_token t
                WHERE t.account_id = a.id) AS valid,
            (SELECT count(*) FILTER (WHERE t.expires_on <= unixepoch()) FROM access_token t
                WHERE t.account_id = a.id) AS expired,
            (SELECT min(t.expires_on) FROM access_token t
                WHERE t.account_id = a.id AND t.expires_on > unixepoch()) AS next_expiry,
            a.last_used_at
        FROM account a ORDER BY a.username_fold, a.account_key, a.authority
        """
}
