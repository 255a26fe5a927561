import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Work of a command that needs the network.
enum AsynchronousWork {
    /// Runs `body` to its end; the main thread waits, which is none of those that `body` runs on.
    static func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        let (_, finish) = start(body)
        return try finish()
    }

    /// Runs `body` to its end, which Ctrl-C brings about by cancelling it.
    static func runUntilInterrupted<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) throws -> Result {
        let (task, finish) = start(body)
        let previous = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, previous) }
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { task.cancel() }
        source.resume()
        defer { source.cancel() }
        return try finish()
    }

    private static func start<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) -> (Task<Void, Never>, finish: () throws -> Result) {
        let outcome = Outcome<Result>()
        let isDone = DispatchSemaphore(value: 0)
        let task = Task.detached {
            do {
                outcome.set(.success(try await body()))
            } catch {
                outcome.set(.failure(error))
            }
            isDone.signal()
        }
        let finish = {
            isDone.wait()
            return try outcome.get()
        }
        return (task, finish)
    }

    private final class Outcome<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, any Error>?>(nil)

        func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

        func get() throws -> Value {
            guard let result = result.withLock(\.self) else { throw CancellationError() }
            return try result.get()
        }
    }
}
