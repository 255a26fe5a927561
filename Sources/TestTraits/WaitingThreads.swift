#if canImport(Testing)
import Foundation
import OAuth
import TestSupport
package import Testing

/// Runs tests a few at a time, on threads of their own, which may wait.
///
/// A test that waits or computes in one of the few threads that all tasks share keeps it from the servers that other
/// tests, and the program itself, are waiting for. All at once would each be so slow that a limit of time runs out in
/// one of them.
package struct WaitingThreadsTrait: PlacedTrait {
    package let isRecursive = true
}

/// A trait whose tests wait for a place among those that run.
package protocol PlacedTrait: SuiteTrait, TestTrait, TestScoping {}

extension PlacedTrait {
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await TestPlaces.shared.run(function)
    }
}

extension Trait where Self == WaitingThreadsTrait {
    /// Leaves the threads that all tasks share to those who do not wait.
    package static var onWaitingThreads: Self { WaitingThreadsTrait() }
}

/// Places for the tests that run at one moment; the others wait for one without a thread.
final class TestPlaces: Sendable {
    static let shared = TestPlaces()

    /// Whether the test that runs has a place: of several traits that ask for one, the first gets it.
    @TaskLocal private static var hasPlace = false

    /// A limit of Swift Testing would begin when the test does, which then waits for its place.
    private static let longestTest = Duration.seconds(20 * 60)

    private let places = AsyncSemaphore(places: 4 * ProcessInfo.processInfo.activeProcessorCount)

    func run(_ test: @Sendable () async throws -> Void) async throws {
        guard !Self.hasPlace else { return try await test() }
        await places.wait()
        defer { places.signal() }
        try await Self.$hasPlace.withValue(true) {
            try await withTaskExecutorPreference(WaitingThreads.shared) { try await Self.limit(test) }
        }
    }

    /// Runs a test; one that takes too long is cancelled, and has failed.
    private static func limit(_ test: @Sendable () async throws -> Void) async throws {
        try await withoutActuallyEscaping(test) { test in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await test() }
                group.addTask {
                    try await Task.sleep(for: longestTest)
                    Issue.record("the test took longer than \(longestTest)")
                }
                try await group.next()
                group.cancelAll()
            }
        }
    }
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
