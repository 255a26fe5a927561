import Dispatch
import HTTPTransport

extension AsynchronousWork {
    /// Runs `body` to its end on other threads, cancelled once `isCancelled` is true; that is asked on this one.
    static func run<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result,
        cancelledIf isCancelled: () -> Bool
    ) throws -> Result {
        let isDone = DispatchSemaphore(value: 0)
        let task = Task.detached {
            defer { isDone.signal() }
            return try await body()
        }
        while isDone.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            guard isCancelled() else { continue }
            task.cancel()
            break
        }
        return try run { try await task.value }
    }
}
