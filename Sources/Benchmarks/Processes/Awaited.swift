import Dispatch
import Synchronization

/// Asynchronous work of a bar, which is not.
enum Awaited {
    /// Runs `body` to its end; the calling thread waits, which is none of those that `body` runs on.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = Outcome<Value>()
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
        private let result = Mutex<Result<Value, any Error>?>(nil)

        func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

        func get() throws -> Value {
            guard let result = result.withLock(\.self) else { throw BenchFailure("nothing came of it") }
            return try result.get()
        }
    }
}
