import Synchronization

/// A session that one thread at a time uses.
///
/// `@unchecked Sendable`: the session is touched only while the lock is held, and nothing that could carry it out of
/// the closure is `Sendable`, as every result must be.
final class GuardedSession: @unchecked Sendable {
    private let lock = Mutex<Void>(())
    private var session: StoreSession?

    /// Runs `body` alone; it finds the session, and may open or drop it.
    func withLock<Result: Sendable>(_ body: (inout StoreSession?) throws -> Result) throws -> Result {
        try lock.withLock { _ in try body(&session) }
    }
}
