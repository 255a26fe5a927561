import Database
import OAuth
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A session that one thread at a time uses.
///
/// `@unchecked Sendable`: the session is touched only while the lock is held, and nothing that could carry it out of
/// the closure is `Sendable`, as every result must be.
final class LockedConnection: @unchecked Sendable {
    private let lock = LockedValue<Void>(())
    private var session: StoreConnection?

    /// The thread that has the session; no other thread finds its own id here.
    private let holder = Atomic<UInt>(0)

    static var thread: UInt {
        #if canImport(Glibc)
        UInt(pthread_self())
        #else
        UInt(bitPattern: pthread_self())
        #endif
    }

    /// Refuses a call from inside a call that has the session, which would wait for itself.
    func refuseItself() throws(TokenStoreError) {
        if holder.load(ordering: .relaxed) == Self.thread { throw Self.calledFromInside }
    }

    static var calledFromInside: TokenStoreError {
        .invalidArgument(
            "the store was called from a closure that it runs while it writes",
            .correct("use what the closure gets, or call the store when it has returned")
        )
    }

    /// Runs `body` alone with the session, which `open` makes at the first call.
    ///
    /// It is made anew after it could not write: a connection that met an inspection of this process when it was
    /// opened never will, although the inspection is long over.
    ///
    /// `check` is called before `body` with a session that was open already.
    func withSession<Result: Sendable>(
        checking check: (StoreConnection) throws -> Void,
        or open: () throws -> StoreConnection,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        try refuseItself()
        return try lock.withLock { _ in try use(checking: check, or: open, body) }
    }

    /// As ``withSession(checking:or:_:)``; nil if another thread has the session all that time.
    func withSession<Result: Sendable>(
        within limit: Duration,
        checking check: (StoreConnection) throws -> Void,
        or open: () throws -> StoreConnection,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result? {
        try refuseItself()
        let start = ContinuousClock.now
        while true {
            if let result = try lock.withLockIfAvailable({ _ in try use(checking: check, or: open, body) }) {
                return result
            }
            guard ContinuousClock.now - start < limit else { return nil }
            Pauses.wait(.microseconds(Int.random(in: 200...1_000)))
        }
    }

    private func use<Result: Sendable>(
        checking check: (StoreConnection) throws -> Void,
        or open: () throws -> StoreConnection,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        holder.store(Self.thread, ordering: .relaxed)
        defer { holder.store(0, ordering: .relaxed) }
        try session.map(check)
        let opened = try session ?? open()
        session = opened
        do {
            return try body(opened)
        } catch let error as SQLiteError where error.code.primary == .readOnly {
            session = nil
            throw error
        }
    }

    /// Closes the session.
    ///
    /// - Returns: false if another thread is using it.
    func close() -> Bool { lock.withLockIfAvailable { _ in session = nil } != nil }
}
