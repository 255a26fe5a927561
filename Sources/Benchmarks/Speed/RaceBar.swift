import HTTPTransport
import LocalIdentityProvider
import OAuth
import SQLite
import TokenStorage

/// Many processes ask for one expired token, at an issuer that ends a session when a refresh token is used twice.
///
/// One session lasts through all rounds.
enum RaceBar: Bar {
    static let name = "P10"

    private static let processes = 64
    private static let issuerMilliseconds = 150

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let path = try bench.place("race")
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        try AsynchronousWork.run { try await issuer.signIn(path) }
        var times: [Double] = []
        var (failed, surplus) = (0, 0)
        let rounds = bench.count("R2", full: 20, quick: 3)
        for _ in 0..<rounds {
            try expire(path)
            let before = issuer.requests()
            issuer.provider.faults.add(.delay(milliseconds: issuerMilliseconds, at: "token"))
            let token = try bench.token(path)
            let start = Stopwatch.now()
            let running = try (0..<processes).map { _ in try token.start() }
            failed += try running.count { try !$0.wait().isSuccess }
            times.append((Stopwatch.now() - start) * 1_000)
            surplus += issuer.requests() - before - 1
        }
        try AsynchronousWork.run { await issuer.provider.stop() }
        let work = "\(processes) processes ask for one expired token, issuer takes \(issuerMilliseconds) ms"
        add(ReportRow(name, work, unit: .milliseconds, value: Spread(times), limit: "≤ 550 ms until all have it"))
        add(ReportRow("R2", work + ": without a token", failures: failed, of: rounds * processes))
        add(ReportRow("R2", work + ": requests beyond one", failures: surplus, of: rounds))
    }

    /// Ends every access token, as time would.
    private static func expire(_ path: StorePath) throws {
        let connection = try Connection(path: path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute("UPDATE access_token SET expires_on = 0, refresh_on = NULL")
    }
}
