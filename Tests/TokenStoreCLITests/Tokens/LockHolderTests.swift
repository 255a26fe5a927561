import Database
import Foundation
import LocalIdentityProvider
import TestTraits
import Testing

/// The process that refreshes is killed or stopped; the others go on.
@Suite(.onWaitingThreads)
struct LockHolderTests {
    /// Where in a refresh it happens.
    enum Moment: CaseIterable, Sendable {
        case beforeTheRequest
        case duringTheRequest
        case afterTheRequest

        var fault: Fault {
            switch self {
            case .beforeTheRequest: .hang(at: "metadata")
            case .duringTheRequest: .hang(at: "token")
            case .afterTheRequest: .hang(at: "token", takesEffect: true)
            }
        }
    }

    /// Starts a refresh, sends its process a signal at a moment, and runs `token` beside it.
    private static func run(
        _ moment: Moment,
        _ signal: Int32,
        _ check: (Command.Outcome, IssuerScene, _ holder: StartedCommand) async throws -> Void
    ) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(moment.fault)
            let holder = try scene.start("--timeout", "60")
            try await scene.waitForRequest(at: moment.fault.route)
            holder.send(signal)
            try await check(try await scene.tokens(1, "--timeout", "60")[0], scene, holder)
        }
    }

    @Test(arguments: [Moment.beforeTheRequest, .duringTheRequest])
    func `C88 and R3: when the holder of the lock is killed, the next process refreshes`(moment: Moment) async throws {
        try await Self.run(moment, SIGKILL) { (outcome, scene, _) async throws in
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(try await scene.tokens(1, "--force-refresh")[0].status == 0)
        }
    }

    @Test func `R3: a holder that consumed the token is named by the next process`() async throws {
        try await Self.run(.afterTheRequest, SIGKILL) { outcome, scene, _ in
            #expect(outcome.status == 4)
            #expect(scene.tokenRequestCount == 2)
            #expect(outcome.error.contains("which tokenstore may have spent before"), "\(outcome.error)")
        }
    }

    /// Takes as long as a holder may take that is alive.
    @Test(.tags(.slow), .ifSlowTestsAreWanted)
    func `R3: when the holder of the lock is stopped, the next process refreshes`() async throws {
        try await Self.run(.duringTheRequest, SIGSTOP) { (outcome, scene, holder) async throws in
            #expect(outcome.status == 0, "\(outcome.error)")
            holder.send(SIGCONT)
            let woken = try await holder.end()
            #expect(woken == 0 || woken == 8, "\(woken)")
            #expect(try await scene.tokens(1, "--force-refresh")[0].status == 0)
        }
    }

    @Test func `the time for a process that holds the whole file counts once`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let holder = try Connection(path: scene.scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
            try holder.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
            let start = ContinuousClock.now
            let outcome = try await scene.tokens(1, "--timeout", "10")[0]
            #expect(outcome.status == 5, "\(outcome.error)")
            #expect(ContinuousClock.now - start < .seconds(19))
            withExtendedLifetime(holder) {}
        }
    }

    @Test func `a file that another process holds is busy to every caller, whatever each waits for`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let holder = try Connection(path: scene.scratch.store, mode: .readWrite, busyTimeout: .seconds(5))
            try holder.execute("BEGIN IMMEDIATE")
            let outcomes = try await scene.tokens(5, "--timeout", "2")
            #expect(outcomes.map(\.status) == [5, 5, 5, 5, 5], "\(outcomes.map(\.error))")
            try holder.execute("ROLLBACK")
            #expect(scene.tokenRequestCount == 0)
            #expect(try await scene.tokens(1)[0].status == 0)
        }
    }

    @Test func `a caller with a short limit leaves a slow holder and its token alone`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hold(at: "token"))
            let holder = try scene.start("--timeout", "60")
            try await scene.waitForIntent()
            let hasty = try await scene.tokens(1, "--timeout", "1")[0]
            #expect(hasty.status == 8, "\(hasty.error)")
            #expect(hasty.error.contains("no token came in time"), "\(hasty.error)")
            scene.provider.faults.removeAll()
            #expect(try await holder.end() == 0)
            #expect(scene.tokenRequestCount == 1)
        }
    }
}
