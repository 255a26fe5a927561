import OAuth

/// Sessions that wait for their next reader.
final class SessionPool: Sendable {
    /// `@unchecked Sendable`: a session is either in the pool, where nobody touches it, or in the hands of one reader.
    private struct Idle: @unchecked Sendable {
        let session: StoreSession
    }

    private let idle = Guarded<[Idle]>([])

    /// More than this many at once is a burst, whose connections are closed again.
    private static let capacity = 8

    func add(_ session: StoreSession) {
        let entry = Idle(session: session)
        idle.withLock { if $0.count < Self.capacity { $0.append(entry) } }
    }

    func removeAll() { idle.withLock { $0 = [] } }

    /// Runs `body` with a session of its own, one that `open` makes if none is idle.
    ///
    /// After an error the session is closed: what the error left behind is not worth reasoning about.
    func withSession<Result>(
        or open: () throws -> StoreSession,
        _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        let taken = idle.withLock { $0.popLast() }
        let session = try taken?.session ?? open()
        let result = try body(session)
        if session.mayWait { add(session) }
        return result
    }
}
