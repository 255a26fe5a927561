import Database
import OAuth
import Sealing
import Synchronization

/// Notices what other nodes commit, so that what is kept in memory is never older than the store's options allow.
///
/// A commit is announced, which is heard at once or never; so the record of use is read as well, now and then. As long
/// as that succeeds, memory is trusted; when it does not, memory is emptied, and every lookup asks the server.
final class ServerWatch: Sendable {
    private let address: ServerAddress
    private let options: StoreOptions
    private let settings: PostgreSQL.Connection.Options
    private let timelines: Timelines
    private let cache: AccessTokenCache

    private struct State {
        var isRunning = false
        var isStopped = false

        /// Which store is watched; nil after another has taken its place, until that is known.
        var storeID: [UInt8]?

        /// Entries of the record of use whose effect is known, from messages and from the look before.
        var heard: Set<Int64> = []
        var seen: Set<Int64> = []
        /// Wakes the thread that reads changes, if somebody subscribes to them.
        weak var signal: ServerSignal?
        var lookups = 0
    }

    private let state = LockedValue(State())

    /// Is called when another store has taken the place of the one that is watched.
    private let whenReplaced = LockedValue<(@Sendable () -> Void)?>(nil)
    private let sign = TrustSign()

    init(
        of address: ServerAddress,
        options: StoreOptions,
        settings: PostgreSQL.Connection.Options,
        timelines: Timelines,
        cache: AccessTokenCache
    ) {
        (self.address, self.options, self.settings) = (address, options, settings)
        (self.timelines, self.cache) = (timelines, cache)
        cache.follow(sign)
    }

    // MARK: - What is in memory

    /// What memory holds of the store; nil while it may not be used.
    var version: MemoryVersion? { sign.version }

    /// A program that asks once needs no connection that listens.
    private static let fewLookups = 3

    /// Counts a lookup that asks the server, and begins to watch where there are more of them.
    func countLookup(of storeID: [UInt8]) {
        guard options.staleness > .zero else { return }
        let isWanted = state.withLock { state in
            state.lookups += 1
            return state.lookups > Self.fewLookups && (!state.isRunning || state.storeID == nil)
        }
        if isWanted { start(storeID) }
    }

    /// This process has committed something.
    func didChange(_ changes: [ServerChange]) {
        forget(changes)
        wakeReader()
    }

    private func wakeReader() { state.withLock { $0.signal }?.wake() }

    private func forget(_ changes: [ServerChange]) {
        guard state.withLock({ $0.isRunning }) else { return }
        state.withLock { state in
            // Those that no look has confirmed for so long are looked at again.
            if state.heard.count > 10_000 { state.heard = [] }
            state.heard.formUnion(changes.map(\.event))
        }
        drop(changes)
    }

    /// Takes from memory what changes concern; one of no account may concern any.
    private func drop(_ changes: [ServerChange]) {
        for change in changes {
            if change.account == 0 { empty() } else { cache.drop(change.account) }
        }
    }

    private func empty() {
        sign.empty()
        cache.removeAll()
    }

    // MARK: - Watching

    /// Wakes the signal, and no other, whenever there may be something new.
    func subscribe(_ signal: ServerSignal, storeID: [UInt8]) {
        state.withLock { $0.signal = signal }
        start(storeID)
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            sign.trust(until: nil)
        }
    }

    func onReplacement(_ body: @escaping @Sendable () -> Void) { whenReplaced.withLock { $0 = body } }

    /// The store that has taken the place of another is known now.
    func resume(with storeID: [UInt8]) { state.withLock { $0.storeID = $0.storeID ?? storeID } }

    /// Forgets everything, as another store has taken the place of the one that was watched.
    func restart() {
        state.withLock { state in
            state.storeID = nil
            sign.trust(until: nil)
        }
        empty()
    }

    private func start(_ storeID: [UInt8]) {
        let isNew = state.withLock { state in
            defer { state.isRunning = true }
            state.storeID = state.storeID ?? storeID
            return !state.isRunning && !state.isStopped
        }
        guard isNew else { return }
        let isStarted = DetachedThread.start { [self] in
            var pauses = Pauses()
            while !isStopped {
                do {
                    // Until the new store is known there is nothing to watch.
                    guard let storeID = state.withLock({ $0.storeID }) else { throw ReplacedStore() }
                    try watch(storeID)
                } catch {
                    if error is ReplacedStore { whenReplaced.withLock(\.self)?() }
                    // As long as the server is silent nothing in memory is served.
                    pauses.next(until: .now + Self.longestInterval)
                }
            }
        }
        // Until one that comes later can start it the server is asked for everything.
        if !isStarted { state.withLock { $0.isRunning = false } }
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private static let longestInterval = Duration.seconds(1)

    /// How often the record of use is read.
    private var interval: Duration {
        options.staleness > .zero ? min(Self.longestInterval, options.staleness / 2) : Self.longestInterval
    }

    /// Watches over one connection until it is lost.
    private func watch(_ storeID: [UInt8]) throws {
        let source = try CommitSource(address, ServerChange.channel(of: storeID), settings)
        let spreadsRows = try source.use { $0.spreadsRows }
        var (next, lowest, before) = (ContinuousClock.now, Int64?.none, Int64?.none)
        while !isStopped {
            let start = ContinuousClock.now
            if start >= next {
                try requireCurrent(storeID, source)
                let found = try look(by: source, from: before ?? lowest, at: start)
                // What several machines commit shows on the last of them a moment after the first has committed.
                if spreadsRows { before = lowest }
                lowest = found
                next = start + interval
            }
            guard let changes = try source.listen(for: ContinuousClock.now.duration(to: next)) else { continue }
            forget(changes)
            wakeReader()
        }
    }

    /// Makes sure that the server has the store still, and that no other server has taken its own place.
    private func requireCurrent(_ storeID: [UInt8], _ source: CommitSource) throws {
        guard state.withLock({ $0.storeID == storeID }) else { throw CancellationError() }
        try source.use { connection in
            let timeline = try Timelines.current(of: connection, with: storeID)
            guard timelines.isNewest(connection.timeline), timeline ?? connection.timeline == connection.timeline else {
                throw PostgreSQLError(.wrongKindOfServer, "another server has taken its place", state: .lost)
            }
            guard timeline != nil else { throw ReplacedStore() }
        }
    }

    /// Reads what was committed since the look before, of which `lowest` is the oldest transaction that was open then.
    ///
    /// - Returns: the oldest that is open now.
    private func look(by source: CommitSource, from lowest: Int64?, at start: ContinuousClock.Instant) throws -> Int64 {
        guard let lowest else {
            let first = try source.use { try $0.integer(Self.oldest) } ?? 0
            // What was announced before was missed; what is committed after the question is found by the next look.
            empty()
            trust(from: start)
            return first
        }
        var (oldest, changes, isTold) = (lowest, [ServerChange](), true)
        try source.use { connection in
            // In this order, and not in one statement: the server knows which transactions are open, and not each
            // machine that has rows.
            let open = try connection.ask(Self.oldest)
            let statement = connection.spreadsRows ? Self.recentOfMany : Self.recent
            let recent = try connection.ask(statement, .text("\(lowest)"), .integer(Self.longestLook + 1))
            oldest = try open.integer() ?? lowest
            changes = try recent.all { row in
                // What concerns no account that is there may concern any in memory.
                let account = row.optionalText(1).map { Account.ID(issuer: $0, homeAccountID: row.text(2)) }
                let number = account.map { AccountRowID.first($0, mask: options.accountRowMask) }
                return ServerChange(event: row.integer(0), account: number ?? 0)
            }
        }
        if changes.count > Self.longestLook { (changes, isTold) = ([], false) }
        let new = state.withLock { state in
            let new = changes.filter { !state.heard.contains($0.event) && !state.seen.contains($0.event) }
            state.seen = Set(changes.map(\.event))
            state.heard.subtract(state.seen)
            return new
        }
        if !isTold { empty() }
        drop(new)
        if !new.isEmpty || !isTold { wakeReader() }
        trust(from: start)
        return oldest
    }

    /// More commits than these between two looks are not told apart.
    private static let longestLook: Int64 = 2_000

    private static let oldest: StaticString = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest"

    /// Entries that were restored into a new cluster may have numbers yet to come; of several machines each has its own.
    private static let recent: StaticString = """
        SELECT e.id, a.authority, a.home_account_id FROM event e LEFT JOIN account a ON a.id = e.account_id
        WHERE e.tx >= CAST(CAST(?1 AS text) AS xid8) AND e.tx < pg_snapshot_xmax(pg_current_snapshot()) LIMIT ?2
        """

    private static let recentOfMany: StaticString = """
        SELECT e.id, a.authority, a.home_account_id FROM event e LEFT JOIN account a ON a.id = e.account_id
        WHERE e.tx >= CAST(CAST(?1 AS text) AS xid8) LIMIT ?2
        """

    /// Memory is as the server was at `start`; what was there from before a silence is not trusted.
    private func trust(from start: ContinuousClock.Instant) {
        let wasSilent = state.withLock { state in
            guard !state.isStopped, options.staleness > .zero else { return false }
            let wasSilent = !sign.isTrusted(at: start)
            if wasSilent { sign.empty() }
            sign.trust(until: start + options.staleness)
            return wasSilent
        }
        if wasSilent { cache.removeAll() }
    }
}

/// The connection by which commits are noticed.
private enum CommitSource {
    case listener(Listener)

    /// Behind a pooler nobody can listen, and the record of use alone tells.
    case pooled(PostgreSQL.Connection)

    init(_ address: ServerAddress, _ channel: String, _ settings: PostgreSQL.Connection.Options) throws {
        switch address.pooler {
        case .none:
            self = .listener(try Listener(to: address, channel: channel, heartbeat: .seconds(60), options: settings))
        case .transaction: self = .pooled(try PostgreSQL.Connection.judged(to: address, options: settings))
        }
    }

    func use<Result>(_ body: (PostgreSQL.Connection) throws -> Result) throws -> Result {
        switch self {
        case .listener(let listener): try listener.use(body)
        case .pooled(let connection): try body(connection)
        }
    }

    /// Waits for messages; nil if there were none.
    func listen(for time: Duration) throws -> [ServerChange]? {
        switch self {
        case .listener(let listener):
            let heard = try listener.wait(for: time)
            return heard.isEmpty ? nil : heard.flatMap { ServerChange.changes(in: $0.payload) }
        case .pooled:
            Pauses.wait(time)
            return nil
        }
    }
}
