import Dispatch
import OAuth

/// Asynchronous work of a program that is not.
package enum AsynchronousWork {
    /// Runs `body` to its end; the calling thread waits, which must be none of those that `body` runs on.
    package static func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        let outcome = Outcome<Result>()
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                outcome.set(.success(try await body()))
            } catch {
                outcome.set(.failure(error))
            }
            isDone.signal()
        }
        isDone.wait()
        return try outcome.get()
    }

    private final class Outcome<Value: Sendable>: Sendable {
        private let result = LockedValue<Result<Value, any Error>?>(nil)

        func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

        func get() throws -> Value {
            guard let result = result.withLock(\.self) else { throw CancellationError() }
            return try result.get()
        }
    }
}
