import Database
import OAuth
import Synchronization

/// The connections to a store on a server.
final class ServerConnections: Sendable {
    let location: StoreLocation
    let address: ServerAddress
    let options: StoreOptions
    let isInspection: Bool
    let settings: PostgreSQL.Connection.Options
    private let pool: ConnectionPool

    /// The connections for what a standby gave up, to a server that can be written to.
    ///
    /// Nil where the address asks for no standby, or for nothing else.
    private let primaries: ConnectionPool?

    /// When a standby last gave up what a caller had been told a part of, who may begin again.
    private let gaveUp = LockedValue<ContinuousClock.Instant?>(nil)

    let watch: ServerWatch
    private let janitor: Janitor

    let known = LockedValue<Known?>(nil)

    let timelines: Timelines
    let experience = SignInExperience()

    let waitingCallers = WaitingCallers()

    /// The threads that write, none of which can wait for itself.
    private let writers = LockedValue<Set<UInt>>([])

    /// Held while the keys are fetched: a person is asked for a passphrase once.
    let fetching = LockedValue<Void>(())

    init(to address: ServerAddress, options: StoreOptions, isInspection: Bool, cache: AccessTokenCache) {
        location = StoreLocation(address)
        let address =
            switch (isInspection, options.mayReadStandby) {
            case (true, true): address
            case (true, false): address.forDeciding
            case (false, _): address.forWriting
            }
        self.address = address
        self.options = options
        self.isInspection = isInspection
        timelines = Timelines(address, clock: options.serverClock)
        settings = Self.settings(options, judging: timelines)
        pool = ConnectionPool(to: address, size: options.poolSize, options: settings)
        primaries =
            address.mayBeStandby && !address.isOnlyRead
            ? ConnectionPool(to: address.forDeciding, size: options.poolSize, options: settings) : nil
        janitor = Janitor(chance: options.janitorChance)
        watch = ServerWatch(of: address, options: options, settings: settings, timelines: timelines, cache: cache)
        watch.onReplacement { [weak self] in self?.forget() }
    }

    deinit { watch.stop() }

    /// - Returns: nil if the database has no store.
    static func inspecting(
        _ address: ServerAddress,
        options: StoreOptions,
        cache: AccessTokenCache
    ) throws -> ServerConnections? {
        let connections = ServerConnections(to: address, options: options, isInspection: true, cache: cache)
        do {
            try connections.read { _ in }
            return connections
        } catch let error as TokenStoreError where error.code == .noStore {
            return nil
        }
    }

    private static func settings(
        _ options: StoreOptions,
        judging timelines: Timelines
    ) -> PostgreSQL.Connection.Options {
        var settings = PostgreSQL.Connection.Options()
        settings.judge = { connection throws(PostgreSQLError) in try timelines.judge(connection) }
        settings.connectLimit = options.busyTimeout
        settings.patience = min(settings.patience, options.busyTimeout)
        settings.lockPatience = min(settings.lockPatience, options.busyTimeout)
        settings.applicationName = options.program
        return settings
    }

    /// Runs `body` with a connection; again where the connection was lost, or a standby had to give up what was being
    /// read, unless the caller `isTold` of rows by then.
    ///
    /// What a standby gave up once is read from the primary, if that can be had; for that the caller waits as long
    /// again.
    func read<Result: Sendable>(
        isTold: @autoclosure () -> Bool = false,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        var limit = ContinuousClock.now + options.busyTimeout
        var pauses = Pauses()
        var waiter: WaitingCallers.Waiter?
        let isRecent = gaveUp.withLock { $0 }.map { ContinuousClock.now - $0 < options.busyTimeout } ?? false
        var (primaries, isGivenUp, isExtended) = (primaries, isRecent, false)
        return try TokenStoreError.translating(at: location) {
            while true {
                do {
                    let pool = isGivenUp ? primaries : nil
                    return try withSession(of: pool, until: limit, isReading: true, body)
                } catch is NoConnection where isGivenUp && primaries != nil {
                    primaries = nil
                } catch let error as NoConnection {
                    try wait(after: error.cause, until: limit, &pauses, &waiter)
                    isGivenUp = error.cause.code.isRetryable
                } catch is ReplacedStore where !isTold() && ContinuousClock.now < limit {
                    forget()
                    pauses.next(until: limit)
                } catch let error as PostgreSQLError where error.code.isRetryable {
                    let told = told(error, isOfPrimary: isGivenUp && primaries != nil)
                    if isTold() { gaveUp.withLock { $0 = .now } }
                    // A standby may give up as late as a caller waits at all.
                    if !isExtended { (limit, isExtended) = (max(limit, .now + options.busyTimeout), true) }
                    guard !isTold(), ContinuousClock.now < limit else { throw told }
                    note(told, for: &waiter)
                    pauses.next(until: limit)
                    isGivenUp = true
                } catch let error as PostgreSQLError where !isTold() {
                    try wait(after: error, until: limit, &pauses, &waiter)
                }
            }
        }
    }

    /// Whether a server that cannot be written to would do if the address said so.
    private func mayBeRead(_ error: PostgreSQLError) -> Bool {
        isInspection && options.mayReadStandby && error.code == .wrongKindOfServer
            && [.readWrite, .primary].contains(address.target)
    }

    /// Waits before the next try.
    ///
    /// - Throws: `error` where there is to be none: it does not pass, the time is up, or the server was never reached,
    ///   whose address may be wrong, and did not answer that it is full or starting.
    private func wait(
        after error: PostgreSQLError,
        until limit: ContinuousClock.Instant,
        _ pauses: inout Pauses,
        _ waiter: inout WaitingCallers.Waiter?
    ) throws {
        let isThere = error.isOfBusyServer || error.code.isRetryable || known.withLock { $0 != nil }
        guard error.isPassing || error.code.isRetryable, isThere, ContinuousClock.now < limit else {
            throw mayBeRead(error) ? TokenStoreError(onlyReadable: error, at: location) : error
        }
        note(TokenStoreError(error, at: location), for: &waiter)
        pauses.next(until: limit)
    }

    private func note(_ error: TokenStoreError, for waiter: inout WaitingCallers.Waiter?) {
        waiter = waiter ?? WaitingCallers.Waiter(waitingCallers)
        waiter?.note(error)
    }

    /// What is said of a read that the server gave up; an idle session of a standby ends with it.
    private func told(_ error: PostgreSQLError, isOfPrimary: Bool) -> TokenStoreError {
        guard error.code == .serializationFailure, address.mayBeStandby, !isOfPrimary else {
            return TokenStoreError(error, at: location)
        }
        return .givenUp(at: location)
    }

    /// Runs `body` with a connection that may write; what it writes is begun within `limit`, or not at all.
    ///
    /// Where the answer to its commit was lost, the server is asked for longer whether it happened.
    func withWriter<Result: Sendable>(
        within limit: Duration,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        let end = ContinuousClock.now + limit
        var pauses = Pauses()
        var waiter: WaitingCallers.Waiter?
        let thread = LockedConnection.thread
        guard writers.withLock({ $0.insert(thread).inserted }) else { throw LockedConnection.calledFromInside }
        defer { writers.withLock { _ = $0.remove(thread) } }
        defer { janitor.runIfDue { [weak self] in try self?.withWriter(within: $0, $1) } }
        return try TokenStoreError.translating(at: location) {
            while true {
                do {
                    return try withSession(until: end) { session in
                        session.deadline = end
                        session.willRetry = { [self] in note(TokenStoreError($0, at: location), for: &waiter) }
                        session.reconnects = { [self] in try reconnected() }
                        session.didChange = { [watch] changes in watch.didChange(changes) }
                        return try body(session)
                    }
                } catch let error as NoConnection {
                    try wait(after: error.cause, until: end, &pauses, &waiter)
                } catch is ReplacedStore where ContinuousClock.now < end {
                    // Nothing was written: it shows at the beginning of a transaction.
                    forget()
                    pauses.next(until: end)
                }
            }
        }
    }

    /// Forgets a store that another has taken the place of.
    private func forget() {
        known.withLock { $0 = nil }
        watch.restart()
    }

    /// A connection could not be had, or told nothing of the store, and nothing was done with it.
    private struct NoConnection: Error {
        let cause: PostgreSQLError
    }

    @discardableResult
    func close() -> Bool {
        janitor.finish()
        let isUnused = primaries?.closeIdle() ?? true
        return pool.closeIdle() && isUnused
    }

    /// What memory holds of the store; nil where it may not be used, and the server is asked.
    func memoryVersion() -> MemoryVersion? {
        if let version = watch.version { return version }
        if let storeID = known.withLock({ $0?.header.storeID }) { watch.countLookup(of: storeID) }
        return nil
    }

    /// Wakes the signal whenever something may have been committed.
    func subscribe(_ signal: ServerSignal) throws {
        let storeID = try read { $0.header.storeID }
        watch.subscribe(signal, storeID: storeID)
    }

    /// Runs `body` with a connection, for which it waits until `end`; one of `others`, where they are given.
    private func withSession<Result>(
        of others: ConnectionPool? = nil,
        until end: ContinuousClock.Instant,
        isReading: Bool = false,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        var isBegun = false
        do {
            return try (others ?? pool).withConnection(patience: max(.zero, end - .now)) { connection, companion in
                try vet(connection)
                let session = try isReading ? readingSession(connection, &companion) : session(connection)
                isBegun = true
                defer {
                    if session.hasNews {
                        learn(from: session)
                        companion = nil
                    }
                }
                return try body(session)
            }
        } catch let error as PostgreSQLError where !isBegun {
            throw NoConnection(cause: error)
        }
    }
}
