import OAuth

/// Sessions that wait for their next reader.
final class SessionPool: Sendable {
    /// `@unchecked Sendable`: a session is either in the pool, where it is not touched, or in the hands of one reader.
    private struct Idle: @unchecked Sendable {
        let session: StoreSession
    }

    private struct State {
        var idle: [Idle] = []
        var readers = 0

        mutating func keep(_ entry: Idle) {
            if idle.count < SessionPool.capacity { idle.append(entry) }
        }
    }

    private let state = Guarded(State())

    /// More than this many at once is a burst, whose connections are closed again.
    private static let capacity = 8

    func add(_ session: StoreSession) {
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

    /// Runs `body` with a session of its own, one that `open` makes if none is idle.
    ///
    /// After an error the session is closed: what the error left behind is not worth reasoning about.
    ///
    /// `check` is called before `body` with a session that was open already.
    func withSession<Result>(
        checking check: (StoreSession) throws -> Void,
        or open: () throws -> StoreSession,
        _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        let taken = state.withLock { state -> Idle? in
            state.readers += 1
            return state.idle.popLast()
        }
        var kept: Idle?
        defer {
            let entry = kept
            state.withLock { state in
                state.readers -= 1
                if let entry { state.keep(entry) }
            }
        }
        try taken.map { try check($0.session) }
        let session = try taken?.session ?? open()
        let result = try body(session)
        if session.mayWait { kept = Idle(session: session) }
        return result
    }
}
