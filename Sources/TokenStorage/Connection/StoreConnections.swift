import Database
import OAuth

/// The connections to one store, whether it is a file or on a server.
///
/// It is public because ``StoreReading`` names it; there is nothing in it for an app to call.
public final class StoreConnections: Sendable {
    private enum Engine: Sendable {
        case file(FileConnections)
        case server(ServerConnections)
    }

    let location: StoreLocation
    let options: StoreOptions
    private let engine: Engine

    /// Access tokens that were opened a while ago.
    let cache: AccessTokenCache

    /// Where the writes of asynchronous callers wait: a file has one writer, and a second thread would only wait.
    package let writing: WorkQueue

    /// What an issuer answered does not wait behind other writes.
    package let answering: WorkQueue

    /// What deletes rows waits for who reads them, so that they are in no log; other writes have another line.
    package let removing: WorkQueue

    /// Renewals of leases have threads of their own: tasks may wait for a thread longer than a lease lasts.
    let leasing = WorkQueue("leasing", threads: 8)
    let filing = WorkQueue("filing", threads: 8)
    package let reading = WorkQueue("reading", threads: 8)

    /// Where asynchronous callers wait for stores that are not open: each has its own lock, or a person who is asked.
    static let opening = WorkQueue("opening", threads: 8)

    convenience init(at location: StoreLocation, options: StoreOptions, isInspection: Bool) {
        let options = Self.timed(options, location)
        switch location.kind {
        case .file(let path):
            let file = FileConnections(path: path, options: options, isInspection: isInspection)
            self.init(location, options, .file(file), file.watch.cache)
        case .server(let address):
            let cache = Self.serverMemory(options)
            let server = ServerConnections(to: address, options: options, isInspection: isInspection, cache: cache)
            self.init(location, options, .server(server), cache)
        }
    }

    private static func serverMemory(_ options: StoreOptions) -> AccessTokenCache {
        AccessTokenCache { [mask = options.accountRowMask] in AccountRowID.first($0, mask: mask) }
    }

    private init(_ location: StoreLocation, _ options: StoreOptions, _ engine: Engine, _ cache: AccessTokenCache) {
        self.cache = cache
        let writers = if case .server = engine { max(1, options.poolSize) } else { 1 }
        self.location = location
        self.options = options
        self.engine = engine
        writing = WorkQueue("writing", threads: writers)
        answering = WorkQueue("answering", threads: writers)
        removing = WorkQueue("removing", threads: writers)
    }

    /// The options with the clock of the server where the store is on one.
    private static func timed(_ options: StoreOptions, _ location: StoreLocation) -> StoreOptions {
        guard location.path == nil, options.followsServerClock else { return options }
        var options = options
        let clock = ServerClock(options.now)
        options.serverClock = clock
        options.now = { clock.date }
        return options
    }

    /// Opens a store for reading only, now.
    ///
    /// - Returns: nil if there is none.
    static func inspecting(_ location: StoreLocation, options: StoreOptions) throws -> StoreConnections? {
        let options = timed(options, location)
        switch location.kind {
        case .file(let path):
            let file = try FileConnections.inspecting(path, options: options)
            return file.map { Self(location, options, .file($0), $0.watch.cache) }
        case .server(let address):
            let cache = serverMemory(options)
            let server = try ServerConnections.inspecting(address, options: options, cache: cache)
            return server.map { Self(location, options, .server($0), cache) }
        }
    }

    /// Runs `body` with a connection for reading; it may read again inside.
    ///
    /// It runs again where a server's connection was lost, or another program wrote to a file that is read without
    /// locks, unless the caller `isTold` by then what was read row by row; nil: the caller does not say.
    func read<Result: Sendable>(
        isTold: @autoclosure () -> Bool? = nil,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        switch engine {
        case .file(let connections): try connections.read(isTold: isTold(), body)
        case .server(let connections): try connections.read(isTold: isTold() ?? false, body)
        }
    }

    /// Runs `body` with a second connection beside one to a file that a reader has; with nil where none is to be had.
    ///
    /// It is used again where `body` leaves it fit.
    func withSecond<Result>(
        to first: StoreConnection,
        _ body: (StoreConnection?, _ isFit: inout Bool) throws -> Result
    ) throws -> Result {
        guard case .file(let connections) = engine else { preconditionFailure("a server has no second reader") }
        return try connections.withSecond(to: first, body)
    }

    /// Runs `body` in a write transaction; on a server again, where the transaction did not happen.
    func write<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        try withWriter { session in try session.write { try body(session) } }
    }

    /// Runs `body` with a connection that may write, outside a transaction.
    func withWriter<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        switch engine {
        case .file(let connections): try connections.withWriter(body)
        case .server(let connections): try connections.withWriter(within: options.busyTimeout, body)
        }
    }

    /// As ``withWriter(_:)``; nil if another thread has the connection all that time, and no longer waiting for others.
    func withWriter<Result: Sendable>(
        within limit: Duration,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result? {
        switch engine {
        case .file(let connections): try connections.withWriter(within: limit, body)
        case .server(let connections): try connections.withWriter(within: limit, body)
        }
    }

    /// Makes sure that it is not the store which keeps a caller waiting whose time is up.
    ///
    /// - Throws: ``TokenStoreError/Code/busy``; on a server ``TokenStoreError/Code/unreachable`` too.
    func requireNoHolder(trying: Bool) throws {
        switch engine {
        case .file(let connections): try connections.requireNoHolder(trying: trying)
        case .server(let connections): if let error = connections.waitingCallers.serverError { throw error }
        }
    }

    /// What tells others why an answer waits for a server; nil on a file.
    func newWaiter() -> WaitingCallers.Waiter? {
        guard case .server(let connections) = engine else { return nil }
        return WaitingCallers.Waiter(connections.waitingCallers)
    }

    /// Closes the connections that are not in use; the next call that needs one opens it again.
    ///
    /// - Returns: whether none is in use.
    @discardableResult
    func close() -> Bool {
        switch engine {
        case .file(let connections): connections.close()
        case .server(let connections): connections.close()
        }
    }

    /// What memory holds of the store; nil where it may not be used.
    ///
    /// What commits of this process and others concern is forgotten: on a file by this call, on a server by itself.
    func memoryVersion() throws -> MemoryVersion? {
        switch engine {
        case .file(let connections): try connections.memoryVersion()
        case .server(let connections): connections.memoryVersion()
        }
    }

    /// Wakes the signal whenever something may have been committed on the server.
    func subscribe(_ signal: ServerSignal) throws {
        if case .server(let connections) = engine { try connections.subscribe(signal) }
    }

    /// Closes the connections for reading that are not in use.
    func closeReaders() {
        if case .file(let connections) = engine { connections.closeReaders() }
    }
}
