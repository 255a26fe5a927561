import Dispatch
package import TokenStorage

/// Keeps every thread of a queue busy until it is let go.
package final class OccupiedQueue: Sendable {
    private let queue: WorkQueue
    private let threads: Int
    private let gate = DispatchSemaphore(value: 0)

    package init(_ queue: WorkQueue, threads: Int = 1) async throws {
        (self.queue, self.threads) = (queue, threads)
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<threads {
            Task { [gate] in
                try await queue.run {
                    continuation.yield()
                    gate.wait()
                }
            }
        }
        var count = 0
        for await _ in begun {
            count += 1
            if count == threads { break }
        }
    }

    /// Waits until so much work is behind that which keeps the threads busy; false if it does not come.
    package func hasWaiting(_ count: Int) async -> Bool {
        let start = ContinuousClock.now
        while queue.waitingCount < count, ContinuousClock.now - start < .seconds(20) { await Task.yield() }
        return queue.waitingCount == count
    }

    package func end() { for _ in 0..<threads { gate.signal() } }

    /// Whether each of `calls`, which succeed, has to wait for a thread that reads a store.
    package static func keepsWaiting(
        readersOf store: TokenStore,
        _ calls: [@Sendable () async throws -> Void]
    ) async throws -> Bool {
        let occupation = try await OccupiedQueue(store.connections.reading, threads: 8)
        var tasks: [Task<Void, any Error>] = []
        var isWaiting = true
        for call in calls where isWaiting {
            tasks.append(Task { try await call() })
            isWaiting = await occupation.hasWaiting(tasks.count)
        }
        occupation.end()
        for task in tasks { try await task.value }
        return isWaiting
    }
}
