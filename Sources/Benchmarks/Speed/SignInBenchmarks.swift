import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A first sign-in: account, claims with index rows, refresh and access token, in one durable commit.
enum SignInBenchmark: Benchmark {
    static let name = "P3"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let accounts = 1_000
        let path = try bench.place("sign-in")
        let store = try TokenStore.open(at: path)
        try store.fill(0..<accounts, accessTokens: 5)
        let measurement = try SignInMeasurement(store, from: accounts)
        let outcome = try measurement.run(rounds: bench.rounds, turns: bench.scaled(20, quick: 4))
        let work = "sign-in of a new account, one durable commit"
        var row = ReportRow(name, work, unit: .microseconds, outcome, floor: "in C, same rows", limit: .ratio(1.2))
        row.peers = try MSALPython.figures(bench, "sign_in", unit: .milliseconds, but: ", not durable")
        add(row)
    }
}

/// The store and the floor signing in accounts that are not in the file yet.
struct SignInMeasurement {
    private let store: TokenStore
    private let floor: Baseline
    private let request: TokenRequest
    private let firstNumber: Int

    /// Commits per turn: each change of sides makes both read anew what the other wrote.
    private static let pieces = 50

    init(_ store: TokenStore, from number: Int) throws {
        self.store = store
        floor = try Baseline(store.path)
        request = try SampleAccount.request()
        firstNumber = number
    }

    func run(rounds: Int, turns: Int) throws -> PairedMeasurement.Outcome {
        var responses: [TokenResponse] = []
        var signIns: [BaselineSignIn] = []
        let now = Date().unixSeconds
        for piece in 0..<rounds * turns * Self.pieces {
            responses.append(SampleAccount(firstNumber + 2 * piece).response)
            signIns.append(BaselineSignIn(SampleAccount(firstNumber + 2 * piece + 1), now: now))
        }
        return try PairedMeasurement(rounds: rounds, turns: turns).run(pieces: Self.pieces) { piece in
            try store.save(responses[piece], for: request)
        } floor: { piece in
            if piece.isMultiple(of: Self.pieces) { floor.expectOthers() }
            try floor.signIn(signIns[piece])
        }
    }
}
