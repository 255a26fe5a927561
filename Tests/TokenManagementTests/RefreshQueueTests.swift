import IssuerSupport
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Many who wait for the right to refresh the tokens of one account.
@Suite(.onBothEngines)
struct RefreshQueueTests {
    /// How many have the right.
    private final class Holders: Sendable {
        private struct Count {
            var (now, most) = (0, 0)
        }

        private let count = LockedValue(Count())

        /// The most that have had it at once.
        var most: Int { count.withLock { $0.most } }

        func add(_ difference: Int) {
            count.withLock {
                $0.now += difference
                $0.most = max($0.most, $0.now)
            }
        }
    }

    @Test func `a long queue is waited for, and nobody passes by a holder who is alive`() async throws {
        let scene = try OpenScene()
        let holders = Holders()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let lock = try await scene.store.refreshLock(
                        of: scene.account,
                        for: .client(OpenScene.client),
                        patience: .seconds(3)
                    )
                    holders.add(1)
                    try await Task.sleep(for: .milliseconds(800))
                    holders.add(-1)
                    await lock.release()
                }
            }
            try await group.waitForAll()
        }
        #expect(holders.most == 1)
    }

    @Test func `a right that was given back is free, though somebody keeps its value`() async throws {
        let scene = try OpenScene()
        func lock(_ client: String) async throws -> RefreshLock {
            try await scene.store.refreshLock(of: scene.account, for: .client(client), patience: .zero)
        }
        let first = try await lock(OpenScene.client)
        let other = try await lock("other")
        await first.release()
        let second = try await lock(OpenScene.client)
        #expect(!second.wasWaitedFor)
        try await second.requireHeld()
        try await other.requireHeld()
        await first.release()
        // Neither is free, whoever asks; a lease of a server would be waited for.
        for client in [OpenScene.client, "other"] where scene.store.location.path != nil {
            #expect(try await lock(client).wasWaitedFor)
        }
        withExtendedLifetime((first, other)) {}
        await second.release()
        await other.release()
    }

    @Test(.aboutFiles("a lease of a server ends by itself"))
    func `a holder that does nothing any more is passed by`() async throws {
        let scene = try OpenScene()
        func lock() async throws -> RefreshLock {
            try await scene.store.refreshLock(
                of: scene.account,
                for: .client(OpenScene.client),
                patience: .milliseconds(300)
            )
        }
        let stopped = try await lock()
        #expect(try await lock().wasWaitedFor)
        withExtendedLifetime(stopped) {}
    }
}
