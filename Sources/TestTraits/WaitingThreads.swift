#if canImport(Testing)
import Foundation
import Synchronization
package import Testing

/// Runs tests on threads of their own, which may wait.
///
/// A test that waits for a program in one of the few threads that all tasks share keeps it from the servers that other
/// tests, and the program itself, are waiting for.
package struct WaitingThreadsTrait: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
    }
}

extension Trait where Self == WaitingThreadsTrait {
    /// Leaves the threads that all tasks share to those who do not wait.
    package static var onWaitingThreads: Self { WaitingThreadsTrait() }
}

/// As many threads as there are jobs at one moment; one that has had nothing to do for a while ends.
///
/// `@unchecked Sendable`: what changes is touched only while `condition` is held.
private final class WaitingThreads: TaskExecutor, @unchecked Sendable {
    static let shared = WaitingThreads()

    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []
    private var idleThreads = 0

    private static let longestIdleness: TimeInterval = 10

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            if jobs.count > idleThreads { Thread.detachNewThread { self.work() } } else { condition.signal() }
        }
    }

    private func work() {
        while let job = condition.withLock({ next() }) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        let end = Date(timeIntervalSinceNow: Self.longestIdleness)
        while jobs.isEmpty {
            idleThreads += 1
            let isSignalled = condition.wait(until: end)
            idleThreads -= 1
            guard isSignalled || !jobs.isEmpty else { return nil }
        }
        return jobs.removeFirst()
    }
}
#endif
