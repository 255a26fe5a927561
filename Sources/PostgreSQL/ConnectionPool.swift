import Dispatch
import Synchronization

/// Connections to one server, lent to one thread at a time, each with what its users keep with it.
///
/// A thread that finds none free waits for one, first come, first served; so only threads that may block call the pool,
/// never those of Swift's cooperative pool.
package final class ConnectionPool: Sendable {
    package let address: ServerAddress
    private let options: Connection.Options
    private let size: Int
    private let state = Mutex(State())

    #if DEBUG
    /// How often the state was used: as with `LockedValue`, it gives the thread sanitizer the order of those who
    /// waited.
    private let uses = Atomic<Int>(0)
    #endif

    private struct State {
        var idle: [Lent] = []
        /// Connections that are lent, idle or being made.
        var count = 0
        var waiting: [Waiter] = []
        var isClosed = false
    }

    /// A connection on its way from one thread to another.
    ///
    /// `@unchecked Sendable`: a connection is either here, where it is not touched, or in the hands of the one thread
    /// that took it out of the state.
    private struct Lent: @unchecked Sendable {
        let connection: Connection
        var companion: AnyObject?
        /// When the connection was given back.
        var end: ContinuousClock.Instant?

        /// Whether the connection can be used, as far as is known.
        ///
        /// Of one that was in use a moment ago the system is not asked, which takes as long as some lookups in memory.
        var isAlive: Bool {
            if let end, ContinuousClock.now - end < .milliseconds(1) { return true }
            return connection.isAlive
        }
    }

    /// A thread that waits for a connection, or for the right to make one.
    private final class Waiter: Sendable {
        enum Gift {
            case connection(Lent)
            case place
            case nothing
        }

        let semaphore = DispatchSemaphore(value: 0)
        let gift = Mutex<Gift?>(nil)

        func give(_ gift: Gift) {
            self.gift.withLock { $0 = gift }
            semaphore.signal()
        }
    }

    package init(to address: ServerAddress, size: Int = 8, options: Connection.Options = Connection.Options()) {
        self.address = address
        self.size = max(1, size)
        self.options = options
    }

    deinit { close() }

    /// The number of connections that are open or being made.
    package var count: Int { withState { $0.count } }

    /// The number of connections that no thread uses.
    package var idleCount: Int { withState { $0.idle.count } }

    /// Runs `body` with a connection, for which it waits up to `patience` if all are in use, and with what the last one
    /// who had it left for the next.
    ///
    /// A connection that broke, or that `body` left in a transaction, is not used again.
    @available(*, noasync, message: "waiting for a connection blocks its thread")
    package func withConnection<Result>(
        patience: @autoclosure () -> Duration = .seconds(5),
        _ body: (Connection, inout AnyObject?) throws -> Result
    ) throws -> Result {
        var lent = try take(patience)
        defer { giveBack(lent) }
        return try body(lent.connection, &lent.companion)
    }

    /// The same without anything that is kept.
    @available(*, noasync, message: "waiting for a connection blocks its thread")
    package func withConnection<Result>(
        patience: @autoclosure () -> Duration = .seconds(5),
        _ body: (Connection) throws -> Result
    ) throws -> Result {
        try withConnection(patience: patience()) { connection, _ in try body(connection) }
    }

    /// Closes the idle connections, and the others as soon as they are given back; none is lent any more.
    package func close() {
        let (idle, waiting) = withState { state in
            defer {
                state.count -= state.idle.count
                state.idle = []
                state.waiting = []
                state.isClosed = true
            }
            return (state.idle, state.waiting)
        }
        for lent in idle { lent.connection.close() }
        for waiter in waiting { waiter.give(.nothing) }
    }

    /// Closes the connections that no thread uses; the next thread that needs one makes it.
    ///
    /// - Returns: whether none is in use.
    @discardableResult
    package func closeIdle() -> Bool {
        let (idle, isUnused) = withState { state in
            let idle = state.idle
            state.idle = []
            state.count -= idle.count
            return (idle, state.count == 0)
        }
        for lent in idle { lent.connection.close() }
        return isUnused
    }

    private func withState<Result>(_ body: (inout sending State) -> sending Result) -> sending Result {
        state.withLock { state in
            #if DEBUG
            _ = uses.load(ordering: .acquiring)
            defer { uses.wrappingAdd(1, ordering: .releasing) }
            #endif
            return body(&state)
        }
    }

    // MARK: - Taking and giving back

    private enum Turn {
        case connection(Lent)
        case place
        case wait(Waiter)
        case closed
    }

    private func take(_ patience: () -> Duration) throws -> Lent {
        while true {
            switch nextTurn() {
            case .connection(let lent):
                if lent.isAlive { return lent }
                lent.connection.close()
                giveUpPlace()
            case .place: return try connect()
            case .wait(let waiter):
                let patience = patience()
                switch wait(waiter, for: patience) {
                case .connection(let lent): return lent
                case .place: return try connect()
                case .nothing: throw Self.closed
                case nil: throw exhausted(patience)
                }
            case .closed: throw Self.closed
            }
        }
    }

    private func nextTurn() -> Turn {
        withState { state in
            if state.isClosed { return .closed }
            if let lent = state.idle.popLast() { return .connection(lent) }
            if state.count < size {
                state.count += 1
                return .place
            }
            let waiter = Waiter()
            state.waiting.append(waiter)
            return .wait(waiter)
        }
    }

    private func wait(_ waiter: Waiter, for patience: Duration) -> Waiter.Gift? {
        if waiter.semaphore.wait(timeout: .now() + .milliseconds(patience.wholeMilliseconds)) == .timedOut {
            // Taken from the list under its lock: a gift that came in between is there to be used.
            withState { $0.waiting.removeAll { $0 === waiter } }
        }
        return waiter.gift.withLock { $0.take() }
    }

    private func connect() throws -> Lent {
        do {
            return Lent(connection: try Connection.judged(to: address, options: options))
        } catch {
            giveUpPlace()
            throw error
        }
    }

    private func giveBack(_ lent: Lent) {
        guard lent.connection.isReusable else {
            lent.connection.close()
            return giveUpPlace()
        }
        var lent = lent
        lent.end = .now
        let isClosed = withState { state in
            if state.isClosed {
                state.count -= 1
                return true
            }
            if state.waiting.isEmpty {
                state.idle.append(lent)
            } else {
                state.waiting.removeFirst().give(.connection(lent))
            }
            return false
        }
        if isClosed { lent.connection.close() }
    }

    /// Lets the next thread that waits make a connection in the place of one that is gone.
    private func giveUpPlace() {
        withState { state in
            if state.waiting.isEmpty {
                state.count -= 1
            } else {
                state.waiting.removeFirst().give(.place)
            }
        }
    }

    private static var closed: PostgreSQLError {
        PostgreSQLError(.connectionLost, "the connections to the server were closed", state: .lost)
    }

    private func exhausted(_ patience: Duration) -> PostgreSQLError {
        PostgreSQLError(.poolExhausted, "all \(size) connections to the server were in use for \(patience)")
    }
}
