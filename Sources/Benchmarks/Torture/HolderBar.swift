import HTTPTransport
import LocalIdentityProvider
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The process that refreshes is killed or stopped at each point of its refresh; the others have to go on.
///
/// The issuer ends a session when a refresh token is used twice. Where the holder has spent the token, nobody can save
/// the session, and the next one has to say who spent it.
enum HolderBar: Bar {
    static let name = "R3"

    private enum Moment: String, CaseIterable {
        case before
        case during
        case after

        var fault: Fault {
            switch self {
            case .before: .hang(at: "metadata")
            case .during: .hang(at: "token")
            case .after: .hang(at: "token", takesEffect: true)
            }
        }
    }

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        defer { issuer.stop() }
        let rounds = bench.count(name, full: 10, quick: 2)
        // A holder that was stopped is waited for; so these take their time.
        for (word, signal, rounds) in [("killed", SIGKILL, rounds), ("stopped", SIGSTOP, (rounds + 4) / 5)] {
            for moment in Moment.allCases {
                let wrong = try (0..<rounds).count { _ in try !goesOn(bench, issuer, moment, signal) }
                let work = "lock holder \(word) \(moment) its request: others that did not go on"
                add(ReportRow(name, work, failures: wrong, of: rounds))
            }
        }
    }

    private static func goesOn(_ bench: Bench, _ issuer: BenchIssuer, _ moment: Moment, _ signal: Int32) throws -> Bool
    {
        let path = try bench.place("holder")
        try AsynchronousWork.run { try await issuer.signIn(path, lifetime: 0) }
        let before = issuer.requests(to: moment.fault.route)
        issuer.provider.faults.add(moment.fault)
        let holder = try bench.token(path).start()
        while issuer.requests(to: moment.fault.route) == before { usleep(1_000) }
        holder.send(signal)
        let output = path.directory + "/next"
        let next = try bench.token(path).run(outputTo: output)
        holder.send(SIGCONT)
        _ = try holder.wait()
        guard moment != .after else {
            let said = try output.contentsOfFile
            return next.code == 4 && said.contains("may have spent before")
        }
        return try next.isSuccess && bench.token(path, "--force-refresh").run().isSuccess
    }
}
