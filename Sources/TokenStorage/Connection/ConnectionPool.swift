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

/// Sessions that wait for their next reader.
final class ConnectionPool: Sendable {
    /// `@unchecked Sendable`: a session is either in the pool, where it is not touched, or in the hands of one reader.
    private struct Idle: @unchecked Sendable {
        let session: StoreConnection
    }

    private struct State {
        var idle: [Idle] = []
        var readers = 0

        mutating func keep(_ entry: Idle) {
            if idle.count < ConnectionPool.capacity { idle.append(entry) }
        }
    }

    private let state = LockedValue(State())

    /// More than this many at once is a burst, whose connections are closed again.
    private static let capacity = 8

    func add(_ session: StoreConnection) {
        let entry = Idle(session: session)
        state.withLock { $0.keep(entry) }
    }

    /// Closes the sessions that are not in use.
    ///
    /// - Returns: whether no other is.
    @discardableResult
    func removeAll() -> Bool {
        let (isUnused, closed) = state.withLock { state in
            let closed = state.idle
            state.idle = []
            return (state.readers == 0, closed)
        }
        withExtendedLifetime(closed) {}
        return isUnused
    }

    /// Runs `body` with a session that no other caller uses, one that `open` makes if none is idle.
    ///
    /// After an error the session is closed: what the error left behind is not worth reasoning about.
    ///
    /// `check` is called before `body` with a session that was open already.
    func withSession<Result>(
        checking check: (StoreConnection) throws -> Void,
        or open: () throws -> StoreConnection,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        let taken = beginReading()
        var kept: StoreConnection?
        defer { endReading(keeping: kept) }
        try taken.map(check)
        let session = try taken ?? open()
        let result = try body(session)
        kept = session
        return result
    }

    /// Counts a reader, who gets an idle session if there is one.
    private func beginReading() -> StoreConnection? {
        let taken = state.withLock { state -> Idle? in
            state.readers += 1
            return state.idle.popLast()
        }
        return taken?.session
    }

    private func endReading(keeping session: StoreConnection?) {
        let entry = session.flatMap { $0.mayWait ? Idle(session: $0) : nil }
        state.withLock { state in
            state.readers -= 1
            if let entry { state.keep(entry) }
        }
    }
}

extension ConnectionPool {
    /// Runs `body` with a session for a caller that has one already: an idle one, or what `open` makes; nil if neither
    /// is to be had.
    ///
    /// The session is kept for the next reader where `body` leaves it fit.
    func withSecondSession<Result>(
        or open: () -> StoreConnection?,
        _ body: (StoreConnection?, _ isFit: inout Bool) throws -> Result
    ) rethrows -> Result {
        let session = beginReading() ?? open()
        var isFit = session != nil
        defer { endReading(keeping: isFit ? session : nil) }
        return try body(session, &isFit)
    }
}

/// A session that one thread at a time uses.
///
/// `@unchecked Sendable`: the session is touched only while the lock is held, and nothing that could carry it out of
/// the closure is `Sendable`, as every result must be.
final class LockedConnection: @unchecked Sendable {
    private let lock = LockedValue<Void>(())
    private var session: StoreConnection?

    /// The thread that has the session; nobody but that one finds itself here.
    private let holder = Atomic<UInt>(0)

    static var thread: UInt {
        #if canImport(Glibc)
        UInt(pthread_self())
        #else
        UInt(bitPattern: pthread_self())
        #endif
    }

    /// Refuses a call from inside a call that has the session, which would wait for itself.
    private func refuseItself() throws(TokenStoreError) {
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
