import Database
import Dispatch
import OAuth
import SQL
import Synchronization

extension TokenStore {
    /// What commits of all nodes change from now on.
    func changesOnServer(about account: Account.ID?) throws -> AsyncStream<StoreChange> {
        let signal = ServerSignal()
        try connections.subscribe(signal)
        do {
            let (start, accounts) = try read { session in
                try session.connection.read { (try session.eventCursor(), try session.accountsByMark()) }
            }
            let (stream, continuation) = ChangeTeller.stream()
            continuation.onTermination = { _ in signal.stop() }
            let teller = ChangeTeller(continuation, about: accounts, only: account)
            try startThread { [self] in
                report(from: start, by: teller, at: signal)
                connections.unsubscribe(signal)
            }
            return stream
        } catch {
            connections.unsubscribe(signal)
            throw error
        }
    }

    /// Runs on a thread of its own until the signal ends it.
    private func report(from start: EventCursor, by teller: ChangeTeller, at signal: ServerSignal) {
        var (cursor, teller, pause, wait) = (start, teller, Self.shortestPause, Self.longestPause)
        repeat {
            do {
                let found = try read { try $0.events(from: cursor) }
                cursor = found.cursor
                teller.tell(found.events, areMany: found.areMany)
                // What waits for an older transaction is looked at again soon.
                pause = cursor.seen.isEmpty || !found.events.isEmpty ? Self.shortestPause : min(pause * 2, .seconds(1))
                wait = cursor.seen.isEmpty ? Self.longestPause : pause
            } catch let error as TokenStoreError where [.busy, .unreachable].contains(error.code) {
                // What is committed meanwhile is told once the server is there again.
                wait = .seconds(1)
            } catch {
                // A store that cannot be read any more has no changes to tell; reading it again says why.
                break
            }
        } while signal.wait(wait)
        teller.finish()
    }

    private static let shortestPause = Duration.milliseconds(5)

    /// Also where nothing was heard for so long.
    private static let longestPause = Duration.seconds(5)
}

/// Up to where the record of use was read on a server.
///
/// Neither the ids nor the times of entries are in the order of their commits, and the numbers of transactions are in
/// the order of their first writes. So an entry is told by the first look that sees it: of a transaction that the look
/// before did not see. Nothing waits for a transaction that stays open, which may be one of another database.
///
/// Several machines, and a standby, do not say which transactions they see. There an entry counts when no transaction
/// of its number or a lower one is open.
struct EventCursor {
    /// Which transactions the last look saw, in the server's words.
    var snapshot: String

    /// The server of that look: the one that takes its place gives some numbers of transactions again.
    var timeline: Int64

    /// The oldest transaction that was open then; every entry of one below it is told.
    var next: Int64

    /// Entries of later transactions that are there already: told, or from before the first look.
    var told: Set<Int64> = []

    /// Entries of later transactions that are there and wait.
    var seen: Set<Int64> = []

    /// Where rows are on several machines: the next place, and when it was found.
    var coming: (transaction: Int64, foundAt: ContinuousClock.Instant)?

    /// A machine commits its part of a transaction so much later than the first at the latest, unless it fails.
    private static let delay = Duration.milliseconds(200)

    /// The place up to which entries count now that `open` is the oldest open transaction.
    mutating func place(at open: Int64, isDelayed: Bool) -> Int64 {
        guard isDelayed else { return open }
        let found = coming ?? (open, .now)
        let isReached = found.foundAt.duration(to: .now) >= Self.delay
        coming = isReached ? (open, .now) : found
        return isReached ? max(next, found.transaction) : next
    }
}

extension StoreConnection {
    /// The place behind everything that is there now.
    func eventCursor() throws -> EventCursor {
        try connection.read {
            let place = try eventPlace()
            // Entries that were restored into a new cluster may have numbers yet to come.
            let told = try eventIDs(from: tellsWhatItSees ? place.end : place.oldest)
            return EventCursor(snapshot: place.snapshot, timeline: timeline, next: place.oldest, told: told)
        }
    }

    /// Entries of the record of use in the order of their transactions, or that they are too many or not known, and the
    /// next place.
    typealias News = (events: [StoreEvent], areMany: Bool, cursor: EventCursor)

    /// The entries behind a place that have come to count.
    func events(from cursor: EventCursor) throws -> News { try connection.read { try news(from: cursor) } }

    private func news(from cursor: EventCursor) throws -> News {
        let place = try eventPlace()
        // Another server has taken the place of the one before, or the store was restored into another cluster: what
        // was committed there since may have numbers that were passed before.
        guard timeline == cursor.timeline, place.oldest >= cursor.next else { return ([], true, try eventCursor()) }
        var coming = cursor
        coming.snapshot = place.snapshot
        guard !tellsWhatItSees else {
            coming.next = place.oldest
            let found = try events(since: cursor.snapshot, limit: StoreEvent.limit + 1)
            let isTooMuch = found.count > StoreEvent.limit
            return (isTooMuch ? [] : found.filter { !cursor.told.contains($0.id) }, isTooMuch, coming)
        }
        let next = coming.place(at: place.oldest, isDelayed: spreadsRows)
        let later = try eventIDs(from: next)
        let found = try events(from: cursor.next, to: next, limit: StoreEvent.limit + 1)
        let isTooMuch = found.count > StoreEvent.limit
        let told = cursor.told.intersection(later)
        (coming.next, coming.told, coming.seen) = (next, told, later.subtracting(told))
        return (isTooMuch ? [] : found.filter { !cursor.told.contains($0.id) }, isTooMuch, coming)
    }

    /// Whether rows may be on several machines.
    private var spreadsRows: Bool {
        guard case .server(let server) = connection.engine else { return false }
        return server.spreadsRows
    }

    /// The timeline of the server; 0 of a standby.
    private var timeline: Int64 {
        guard case .server(let server) = connection.engine else { return 0 }
        return server.timeline
    }

    /// Whether the server says of each transaction whether a look sees it.
    private var tellsWhatItSees: Bool { !spreadsRows && timeline != 0 }

    /// Which transactions are seen now, the oldest that is open, and the first that has not begun.
    private func eventPlace() throws -> (snapshot: String, oldest: Int64, end: Int64) {
        try connection.first(Self.snapshots) { ($0.text(0), $0.integer(1), $0.integer(2)) } ?? ("", 0, 0)
    }

    private func eventIDs(from transaction: Int64) throws -> Set<Int64> {
        Set(try connection.all(Self.eventsFrom, .text("\(transaction)")) { $0.integer(0) })
    }

    private static let snapshots: StaticString = """
        SELECT pg_current_snapshot()::text, pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
            pg_snapshot_xmax(pg_current_snapshot())::text::bigint
        """

    private static let eventsFrom: StaticString = "SELECT id FROM event WHERE tx >= CAST(CAST(?1 AS text) AS xid8)"
}

/// Wakes a thread that waits for changes.
final class ServerSignal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let isOver = LockedValue(false)

    func wake() { semaphore.signal() }

    /// Ends the waiting for good.
    func stop() {
        isOver.withLock { $0 = true }
        wake()
    }

    /// Waits until there may be something new, or the time is over.
    ///
    /// - Returns: false if the waiting has ended for good.
    func wait(_ time: Duration) -> Bool {
        let end = DispatchTime.now() + .milliseconds(Int(time / .milliseconds(1)))
        if semaphore.wait(timeout: end) == .success {
            // However often it was woken: one look tells all.
            while semaphore.wait(timeout: .now()) == .success {}
        }
        return !isOver.withLock { $0 }
    }
}
