import HTTPTransport
import LocalIdentityProvider
import OAuth
import TokenStorage

/// Many processes ask for one expired token, at an issuer that ends a session when a refresh token is used twice.
///
/// One session lasts through all rounds.
struct Race {
    let bench: Bench

    func run(rounds: Int) throws -> RaceOutcome {
        let path = try bench.place("race")
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        defer { issuer.stop() }
        try AsynchronousWork.run { try await issuer.signIn(path) }
        let token = try bench.token(path)
        var outcome = RaceOutcome()
        for _ in 0..<rounds {
            try expire(path)
            let before = issuer.requests()
            issuer.provider.faults.add(.delay(milliseconds: RaceOutcome.issuerMilliseconds, at: "token"))
            let start = Stopwatch.now()
            let running = try (0..<RaceOutcome.processes).map { _ in try token.start() }
            let failed = try running.count { try !$0.wait().isSuccess }
            outcome.add(
                seconds: Stopwatch.now() - start,
                processes: RaceOutcome.processes,
                failed: failed,
                requests: issuer.requests() - before
            )
        }
        return outcome
    }

    /// What MSAL for Python makes of it, in fewer rounds, since it takes long.
    func peer() throws -> RaceOutcome? {
        try bench.msal?.race(
            bench,
            rounds: bench.scaled(5, quick: 1),
            processes: bench.scaled(RaceOutcome.processes, quick: 16)
        )
    }

    /// Ends every access token, as time would.
    private func expire(_ path: StorePath) throws {
        try TokenStore.open(at: path).withWriter {
            try $0.update("access_token", set: "expires_on = 0, refresh_on = NULL")
        }
    }
}
