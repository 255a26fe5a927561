import Foundation
import LocalIdentityProvider
import Testing

/// The process that refreshes is killed or stopped; the others go on.
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
    ///
    /// Beside a process that was stopped it takes two thirds of the timeout.
    private static func run(
        _ moment: Moment,
        _ signal: Int32,
        timeout: String = "30",
        _ check: (Command.Outcome, IssuerScene, _ holder: StartedCommand) async throws -> Void
    ) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(moment.fault)
            let holder = try scene.start("--timeout", timeout)
            try await scene.waitForRequest(at: moment.fault.route)
            holder.send(signal)
            try await check(try await scene.tokens(1, "--timeout", timeout)[0], scene, holder)
        }
    }

    @Test(arguments: [Moment.beforeTheRequest, .duringTheRequest])
    func `C88 and R3: when the holder of the lock is killed, the next one goes on`(moment: Moment) async throws {
        try await Self.run(moment, SIGKILL) { (outcome, scene, _) async throws in
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(try await scene.tokens(1, "--force-refresh")[0].status == 0)
        }
    }

    @Test(arguments: [Moment.beforeTheRequest, .duringTheRequest])
    func `R3: when the holder of the lock is stopped, the next one goes on, and so does the session when it wakes up`(
        moment: Moment
    ) async throws {
        try await Self.run(moment, SIGSTOP, timeout: "9") { (outcome, scene, holder) async throws in
            #expect(outcome.status == 0, "\(outcome.error)")
            holder.send(SIGCONT)
            let woken = try await holder.end()
            #expect(woken == 0 || woken == 8, "\(woken)")
            #expect(try await scene.tokens(1, "--force-refresh")[0].status == 0)
        }
    }

    @Test(arguments: [SIGKILL, SIGSTOP])
    func `R3: where the holder has spent the token, the next one says who it was`(signal: Int32) async throws {
        try await Self.run(.afterTheRequest, signal, timeout: "9") { (outcome, scene, _) async throws in
            #expect(outcome.status == 4 && scene.net == 2)
            #expect(outcome.error.contains("which tokenstore may have spent before"), "\(outcome.error)")
        }
    }
}
