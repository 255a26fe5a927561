import Database
import LocalIdentityProvider
import TokenStorage
import TokenStoreCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Something happens between the issuer's answer and the commit: the session has to go on.
///
/// The issuer ends a session when a refresh token is used twice. It gives a spent one again only where the process is
/// killed: no program keeps what just the memory of a killed one had.
enum AnswerBenchmark: Benchmark {
    static let name = "R13"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        defer { issuer.stop() }
        let lenient = try AsynchronousWork.run { try await BenchIssuer(grace: 60) }
        defer { lenient.stop() }
        let rounds = bench.count(name, full: 1_000, quick: 24) / 4
        let told = try (0..<rounds).count { try !isKept(bench, issuer, [SIGTERM, SIGINT, SIGHUP][$0 % 3]) }
        add(row("told to end, no reuse grace", lost: told, of: rounds))
        let killed = try (0..<rounds).count { _ in try !isKept(bench, lenient, SIGKILL) }
        add(row("killed, 60 s of reuse grace", lost: killed, of: rounds))
        var inFiles = 0
        let held = try (0..<rounds).count { try !isKeptByHeldStore(bench, issuer, isKilled: $0 % 2 == 0, &inFiles) }
        add(row("the store held by another, \(inFiles) answers in files,", lost: held, of: rounds))
        guard let disk = try FullDisk(bench) else { return }
        let full = try (0..<rounds).count { try !isKept(on: disk, bench, issuer, $0) }
        add(row("the disk full", lost: full, of: rounds))
    }

    private static func row(_ event: String, lost: Int, of rounds: Int) -> ReportRow {
        ReportRow(name, "\(event) between answer and commit: sessions lost", failures: lost, of: rounds)
    }

    /// Signs in, starts a refresh, and returns once the issuer has its request, which it answers after a moment.
    private static func refresh(
        _ bench: Bench,
        _ issuer: BenchIssuer,
        _ path: StorePath,
        delay: Int
    ) throws -> RunningProcess {
        try AsynchronousWork.run { try await issuer.signIn(path, lifetime: 0) }
        let before = issuer.requests()
        issuer.provider.faults.add(.delay(milliseconds: delay, at: "token"))
        let running = try bench.token(path, "--timeout", "20").start()
        while issuer.requests() == before { usleep(500) }
        return running
    }

    /// Whether the refresh token that the store has is good.
    private static func goesOn(_ bench: Bench, _ path: StorePath) throws -> Bool {
        try bench.token(path, "--force-refresh").run().isSuccess
    }

    /// The signal comes at a random moment around the answer.
    private static func isKept(_ bench: Bench, _ issuer: BenchIssuer, _ signal: Int32) throws -> Bool {
        let path = try bench.place("told")
        let running = try refresh(bench, issuer, path, delay: 5)
        usleep(.random(in: 0..<15_000))
        running.send(signal)
        _ = try running.wait()
        return try goesOn(bench, path)
    }

    /// Another process holds the store until the answer is in a file; half of those that wait for it are killed then.
    private static func isKeptByHeldStore(
        _ bench: Bench,
        _ issuer: BenchIssuer,
        isKilled: Bool,
        _ inFiles: inout Int
    ) throws -> Bool {
        let path = try bench.place("held")
        let running = try refresh(bench, issuer, path, delay: 100)
        let other = try Connection(path: path.database, mode: .readWrite, busyTimeout: .seconds(5))
        try other.execute("BEGIN IMMEDIATE")
        // On a slow machine the answer may have been committed before the store was held.
        var isInFile = false
        while !isInFile, !running.hasEnded {
            usleep(2_000)
            isInFile = try TokenStore.inspect(at: path)?.status().pendingAnswers.isEmpty == false
        }
        if isInFile { inFiles += 1 }
        if isKilled { running.kill() }
        try other.execute("ROLLBACK")
        _ = try running.wait()
        return try goesOn(bench, path)
    }

    /// The last free page goes while the issuer thinks.
    private static func isKept(on disk: FullDisk, _ bench: Bench, _ issuer: BenchIssuer, _ round: Int) throws -> Bool {
        let path = StorePath("\(disk.directory)/\(round)/tokenstore.db")
        let running = try refresh(bench, issuer, path, delay: 100)
        let filler = try disk.fill()
        let ended = try running.wait()
        unlink(filler)
        defer { disk.remove("\(round)") }
        return try ended.isSuccess && goesOn(bench, path)
    }
}
