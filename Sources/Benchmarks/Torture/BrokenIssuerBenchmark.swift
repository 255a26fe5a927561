import Database
import LocalIdentityProvider
import TokenStorage
import TokenStoreCLI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An issuer breaks in every way: the program says so within its time, loses nothing, and still hands out a stored
/// token that is good.
enum BrokenIssuerBenchmark: Benchmark {
    static let name = "R10"
    private static let timeout = 3.0

    private static var faults: [(String, Fault)] {
        [
            ("hangs", .hang(at: "token", times: nil)), ("answers 503", .status(503, at: "token", times: nil)),
            ("answers 429", .tooManyRequests(seconds: 60, at: "token", times: nil)),
            ("answers HTML", .html(at: "token", times: nil)),
            ("answers an empty 400", .emptyBadRequest(at: "token", times: nil)),
            ("cuts its answers short", .truncatedBody(at: "token", times: nil)),
            ("sends a wrong ID token", .wrongIDToken(.signature, times: nil)),
            ("sends 100 MB", .answer(body: String(repeating: "x", count: 100_000_000), at: "token", times: nil)),
        ]
    }

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        // What an issuer has spent for nothing, it gives again within this time.
        let issuer = try AsynchronousWork.run { try await BenchIssuer(grace: 60) }
        defer { issuer.stop() }
        for (word, fault) in faults {
            let path = try bench.place("broken")
            var checks = try failing(bench, issuer, fault, path)
            checks += try serving(bench, issuer, fault, bench.place("aging"))
            add(ReportRow(name, "an issuer that \(word)", failures: checks.count { !$0 }, of: checks.count))
        }
    }

    /// The only token has ended.
    private static func failing(_ bench: Bench, _ issuer: BenchIssuer, _ fault: Fault, _ path: StorePath) throws
        -> [Bool]
    {
        try AsynchronousWork.run { try await issuer.signIn(path, lifetime: 0) }
        issuer.provider.faults.add(fault)
        let output = path.directory + "/output"
        let outcome = try bench.token(path, "--timeout", "\(Int(timeout))").run(outputTo: output)
        issuer.provider.faults.removeAll()
        let said = try output.contentsOfFile
        let status = try TokenStore.open(at: path).status()
        // A caller that asks again at once is throttled; the session itself must be valid.
        try Connection(path: path.database, mode: .readWrite, busyTimeout: .seconds(5)).execute("DELETE FROM throttle")
        return [
            [1, 4, 8].contains(outcome.code) && outcome.seconds < timeout,
            said.hasPrefix("tokenstore: error: ") && said.contains("; ") && said.split(separator: "\n").count == 1,
            status.accounts == 1 && status.refreshTokens == 1 && status.idTokens == 1,
            try bench.token(path).run().isSuccess,
        ]
    }

    /// The stored token is good, and worth refreshing.
    private static func serving(_ bench: Bench, _ issuer: BenchIssuer, _ fault: Fault, _ path: StorePath) throws
        -> [Bool]
    {
        try AsynchronousWork.run { try await issuer.signIn(path) }
        try TokenStore.open(at: path).withWriter { try $0.update("access_token", set: "refresh_on = 1") }
        issuer.provider.faults.add(fault)
        let outcome = try bench.token(path, "--timeout", "\(Int(timeout))").run()
        issuer.provider.faults.removeAll()
        return [outcome.isSuccess && outcome.seconds < timeout]
    }
}

extension String {
    /// The text of the file at this path.
    var contentsOfFile: String {
        get throws { String(decoding: try Data(contentsOf: URL(fileURLWithPath: self)), as: UTF8.self) }
    }
}
