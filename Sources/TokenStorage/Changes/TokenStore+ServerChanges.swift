import Database
import Dispatch
import SQL

/// Up to where the record of use was read on a server.
///
/// Neither the ids nor the times of entries are in the order of their commits, and the numbers of transactions are in
/// the order of their first writes. So an entry is told by the first look that sees it: of a transaction that the look
/// before did not see. Nothing waits for a transaction that stays open, which may be one of another database.
///
/// Several machines, and a standby, do not say which transactions they see. There an entry counts when no transaction
/// of its number or a lower one is open.
struct EventCursor: RecordCursor {
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

extension EventCursor {
    init(behindAllOf session: StoreConnection) throws { self = try session.eventCursor() }

    func news(_ session: StoreConnection) throws -> News { try session.events(from: self) }

    var waiting: Set<Int64> { seen }

    /// What waits for an older transaction is looked at again soon.
    func pause(after quietLooks: Int) -> Duration? {
        seen.isEmpty ? .seconds(5) : min(.milliseconds(5 << min(quietLooks, 8)), .seconds(1))
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

    /// The entries behind a place that have come to count.
    func events(from cursor: EventCursor) throws -> EventCursor.News { try connection.read { try news(from: cursor) } }

    private func news(from cursor: EventCursor) throws -> EventCursor.News {
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

/// Wakes the thread that reads changes of a server.
final class ServerSignal: ChangeSignal {
    private let semaphore = DispatchSemaphore(value: 0)
    private let connections: StoreConnections

    init(_ connections: StoreConnections) { self.connections = connections }

    func watch() throws { try connections.subscribe(self) }

    func wake() { semaphore.signal() }

    func wait(_ limit: Duration?) -> Bool {
        let end = limit.map { DispatchTime.now() + .milliseconds(Int($0 / .milliseconds(1))) } ?? .distantFuture
        guard semaphore.wait(timeout: end) == .success else { return false }
        // However often it was woken: one look tells all.
        while semaphore.wait(timeout: .now()) == .success {}
        return true
    }
}
