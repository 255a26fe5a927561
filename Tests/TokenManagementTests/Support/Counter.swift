import Synchronization

/// Counts from any thread.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock(\.self) }

    /// One more than the last time.
    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}
