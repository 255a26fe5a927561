import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The store and the floor signing in accounts that are not in the file yet.
struct SignInContest {
    private let store: TokenStore
    private let floor: Floor
    private let request: TokenRequest
    private let firstNumber: Int

    /// Commits per turn: each change of sides makes both read anew what the other wrote.
    private static let pieces = 50

    init(_ store: TokenStore, from number: Int) throws {
        self.store = store
        floor = try Floor(store.path)
        request = try SampleAccount.request()
        firstNumber = number
    }

    func run(rounds: Int, turns: Int) throws -> Contest.Outcome {
        var responses: [TokenResponse] = []
        var signIns: [FloorSignIn] = []
        let now = Int64(Date().timeIntervalSince1970)
        for piece in 0..<rounds * turns * Self.pieces {
            responses.append(SampleAccount(firstNumber + 2 * piece).response)
            signIns.append(FloorSignIn(SampleAccount(firstNumber + 2 * piece + 1), now: now))
        }
        return try Contest(rounds: rounds, turns: turns).run(pieces: Self.pieces) { piece in
            try store.save(responses[piece], for: request)
        } floor: { piece in
            if piece.isMultiple(of: Self.pieces) { floor.expectOthers() }
            try floor.signIn(signIns[piece])
        }
    }
}
