import OAuth
import Synchronization

/// Idle sessions, each of which is lent to one reader at a time.
final class ReaderPool: Sendable {
    /// `@unchecked Sendable`: a session is either in the pool, where it is not touched, or in the hands of one reader.
    private struct Idle: @unchecked Sendable {
        let session: StoreConnection
    }

    private struct State {
        var idle: [Idle] = []
        var readers = 0

        mutating func keep(_ entry: Idle) {
            if idle.count < ReaderPool.capacity { idle.append(entry) }
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

extension ReaderPool {
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
