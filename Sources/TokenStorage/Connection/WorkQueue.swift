import Dispatch
import OAuth
import Synchronization

/// Runs work that blocks, in the order in which it came, on no more than a given number of threads.
///
/// The threads of Swift concurrency are as few as the machine's cores. One that waits for a disk or for another process
/// keeps every task waiting, and a thread for each call would be a hundred threads that wait for one lock.
///
/// Each thread is a serial queue. A concurrent one would share its threads with Swift's tasks, and of those that wait a
/// new one takes the place after a second only.
package final class WorkQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var threads = 0
        var idle: [DispatchQueue] = []
    }

    private let limit: Int
    private let name: String
    private let state = LockedValue(State())

    package init(_ name: String, threads limit: Int) {
        self.limit = limit
        self.name = "tokenstore.\(name)"
    }

    /// How much work has not begun yet.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs `body` to its end, even if the task that waits for it is cancelled.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        let work = Work(body)
        return try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: work.result()) }
        }
    }

    /// Runs `body` unless the task that waits for it is cancelled before it begins.
    ///
    /// - Throws: `CancellationError` then, at once.
    package func runUnlessCancelled<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let (work, caller) = (Work(body), Caller<Result>())
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard caller.wait(continuation) else { return continuation.resume(throwing: CancellationError()) }
                submit { caller.take()?.resume(with: work.result()) }
            }
        } onCancel: {
            guard let continuation = caller.take() else { return }
            work.letGo()
            continuation.resume(throwing: CancellationError())
        }
    }

    /// As ``runUnlessCancelled(_:)``, for long work: what `body` is given throws once the task is cancelled.
    func runWhileWanted<Result: Sendable>(
        _ body: @escaping @Sendable (_ isWanted: @escaping @Sendable () throws -> Void) throws -> Result
    ) async throws -> Result {
        let isCancelled = LockedValue(false)
        return try await withTaskCancellationHandler {
            try await runUnlessCancelled {
                try body {
                    guard !isCancelled.withLock(\.self) else { throw CancellationError() }
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    /// Runs `body` with a handler that tells `progress` how far it is, and ends it once the task is cancelled.
    func runWhileWanted<Result: Sendable>(
        telling progress: (@Sendable (TokenStore.Progress) throws -> Void)?,
        _ body: @escaping @Sendable (@escaping TokenStore.ProgressHandler) throws -> Result
    ) async throws -> Result {
        try await runWhileWanted { isWanted in
            try body {
                try isWanted()
                try progress?($0)
            }
        }
    }

    /// Runs `work` later, without waiting for it.
    func submit(_ work: @escaping @Sendable () -> Void) {
        let thread = state.withLock { state -> DispatchQueue? in
            state.waiting.append(work)
            guard state.threads < limit else { return nil }
            state.threads += 1
            return state.idle.popLast() ?? DispatchQueue(label: name)
        }
        if let thread { thread.async { self.work(on: thread) } }
    }

    /// Runs on one thread until nothing waits.
    private func work(on thread: DispatchQueue) {
        while let next = next(on: thread) { next() }
    }

    private func next(on thread: DispatchQueue) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.threads -= 1
                state.idle.append(thread)
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}

/// Work that lets go of what it holds before its caller goes on: a store that is in use no more closes its files then.
private final class Work<Result: Sendable>: Sendable {
    private let body: LockedValue<(@Sendable () throws -> Result)?>

    init(_ body: @escaping @Sendable () throws -> Result) { self.body = LockedValue(body) }

    func result() -> Swift.Result<Result, any Error> {
        guard let body = taken() else { return .failure(CancellationError()) }
        return Swift.Result { try body() }
    }

    func letGo() { _ = taken() }

    private func taken() -> (@Sendable () throws -> Result)? {
        body.withLock { body in
            defer { body = nil }
            return body
        }
    }
}

/// The task that waits for work, until the work begins or the task is cancelled.
private final class Caller<Result: Sendable>: Sendable {
    private enum State {
        case coming
        case waiting(CheckedContinuation<Result, any Error>)
        case gone
    }

    private let state = LockedValue(State.coming)

    /// - Returns: false if the task was cancelled before.
    func wait(_ continuation: CheckedContinuation<Result, any Error>) -> Bool {
        state.withLock { state in
            guard case .coming = state else { return false }
            state = .waiting(continuation)
            return true
        }
    }

    /// The caller, for the first who asks.
    func take() -> CheckedContinuation<Result, any Error>? {
        state.withLock { state in
            defer { state = .gone }
            guard case .waiting(let continuation) = state else { return nil }
            return continuation
        }
    }
}
