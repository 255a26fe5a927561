import Dispatch
import OAuth
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Work on threads of its own, which may block.
enum Background {
    static func start(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "tokenstore-bench").async(execute: body)
    }

    /// Starts `body` on a thread of its own; the result waits for its end.
    static func result<Outcome: Sendable>(
        _ body: @escaping @Sendable () throws -> Outcome
    ) -> () throws -> Outcome {
        let group = DispatchGroup()
        let outcome = LockedValue<Result<Outcome, any Error>?>(nil)
        group.enter()
        start {
            let result = Result { try body() }
            outcome.withLock { $0 = result }
            group.leave()
        }
        return {
            group.wait()
            guard let result = outcome.withLock(\.self) else { throw CancellationError() }
            return try result.get()
        }
    }

    static func pause(_ duration: Duration) { usleep(UInt32(duration / .microseconds(1))) }

    /// Waits until `isSo`, half a minute at most.
    ///
    /// - Returns: how many seconds that took.
    @discardableResult
    static func wait(until isSo: () throws -> Bool) throws -> Double {
        let start = Stopwatch.now()
        while try !isSo() {
            guard Stopwatch.now() - start < 30 else { throw BenchFailure("what is waited for does not happen") }
            pause(.milliseconds(1))
        }
        return Stopwatch.now() - start
    }

    /// Runs `body` on `count` threads at once, and waits for all of them.
    ///
    /// - Returns: the errors of those that failed.
    static func together(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) -> [any Error] {
        let group = DispatchGroup()
        let errors = LockedValue<[any Error]>([])
        for index in 0..<count {
            group.enter()
            start {
                do { try body(index) } catch { errors.withLock { $0.append(error) } }
                group.leave()
            }
        }
        group.wait()
        return errors.withLock(\.self)
    }
}
