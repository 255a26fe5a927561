import Synchronization

/// A session that one thread at a time uses.
///
/// `@unchecked Sendable`: the session is touched only while the lock is held, and nothing that could carry it out of
/// the closure is `Sendable`, as every result must be.
final class GuardedSession: @unchecked Sendable {
    private let lock = Mutex<Void>(())
    private var session: StoreSession?

    /// Runs `body` alone with the session, which `open` makes at the first call.
    func withSession<Result: Sendable>(
        or open: () throws -> StoreSession,
        _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        try lock.withLock { _ in
            let opened = try session ?? open()
            session = opened
            return try body(opened)
        }
    }
}
