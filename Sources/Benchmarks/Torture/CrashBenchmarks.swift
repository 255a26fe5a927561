import LocalIdentityProvider
import OAuth
import TokenStorage
import TokenStoreCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A writer is killed at random moments; everything that was reported as stored must be there.
enum KillBenchmark: Benchmark {
    static let name = "R1"
    static let accounts = 40

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let kills = bench.count(name, full: 1_000, quick: 25)
        let path = try bench.place("kill")
        _ = try TokenStore.open(at: path)
        var known: [Int: UInt64] = [:]
        var (damaged, lost, commits) = (0, 0, 0)
        for round in 1...kills {
            for commit in try returnedCommits(at: path, round: round) {
                known[commit.account] = max(known[commit.account] ?? 0, commit.generation)
                commits += 1
            }
            do {
                let store = try TokenStore.open(at: path)
                damaged += try store.check().isEmpty ? 0 : 1
                lost += try known.count { try generation(of: $0.key, in: store) < $0.value }
            } catch {
                damaged += 1
            }
        }
        var row = ReportRow(name, "kill -9 of a writer: damaged stores", failures: damaged, of: kills)
        let times = bench.scaled(60, quick: 5)
        let damagedCaches = try bench.msal?.damagedCaches(bench, kills: times)
        row.peers = [PeerFigure(bench.msal, "10 accounts", failures: damagedCaches, of: times)]
        add(row)
        add(ReportRow(name, "kill -9 of a writer: lost commits that had returned", failures: lost, of: commits))
    }

    /// Lets a writer run, kills it, and returns the commits it was told of.
    private static func returnedCommits(at path: StorePath, round: Int) throws -> [(account: Int, generation: UInt64)] {
        let pipe = try Pipe()
        let writer = try ChildProcess.this("write", path.database, "\(round)").start(output: pipe.writing)
        pipe.closeWriting()
        var reported: [UInt8] = []
        // One in eight dies before its first commit, while it opens the store.
        if round % 8 != 0 { reported = pipe.next(WriteChild.messageCount) }
        usleep(UInt32.random(in: 0..<25_000))
        writer.kill()
        reported += pipe.rest()
        _ = try writer.wait()
        return reported.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - WriteChild.messageCount + 1, by: WriteChild.messageCount).map {
                let account = bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)
                return (Int(account), bytes.loadUnaligned(fromByteOffset: $0 + 8, as: UInt64.self))
            }
        }
    }

    /// The generation of the tokens that an account has; 0 if it has none.
    private static func generation(of account: Int, in store: TokenStore) throws -> UInt64 {
        guard case .usable(let token, _) = try store.cachedToken(for: SampleAccount(account).query()) else { return 0 }
        return UInt64(token.secret.reveal().split(separator: ".")[2]) ?? 0
    }
}

/// The process that refreshes is killed or stopped at each point of its refresh; the others have to go on.
///
/// The issuer ends a session when a refresh token is used twice. If the holder has spent the token, no process can save
/// the session, and the next one has to say who spent it.
enum HolderBenchmark: Benchmark {
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
