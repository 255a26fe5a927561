import Database
import Dispatch
import OAuth
import SQL
import Synchronization

/// Deletes what has served its time on a server, now and then, beside the program's own work.
///
/// A file's writers do it themselves; a server's would wait for each other's rows.
final class Janitor: Sendable {
    private let chance: Int
    private let isBusy = LockedValue(false)

    /// - Parameter chance: of how many writes one is followed by the janitor's work.
    init(chance: Int) { self.chance = max(1, chance) }

    /// Waits for the work that is under way: a process that ended meanwhile would take away what its thread stands on.
    func finish() {
        let end = ContinuousClock.now + .seconds(10)
        while isBusy.withLock(\.self), ContinuousClock.now < end { Pauses.wait(.milliseconds(2)) }
    }

    /// The time that the work may wait for a connection, and the work.
    typealias Writer = @Sendable (Duration, (StoreConnection) throws -> Void) throws -> Void

    /// Begins the work on a thread of its own if it is time.
    ///
    /// What is deleted does not matter to anyone, so neither does a failure: another run follows.
    func runIfDue(writingBy write: @escaping Writer) {
        guard Int.random(in: 0..<chance) == 0 else { return }
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else { return }
        DispatchQueue.global(qos: .utility).async { [self] in
            defer { isBusy.withLock { $0 = false } }
            do {
                try write(.seconds(1)) { _ = try $0.deleteOutdated() }
            } catch {}
        }
    }
}

extension TokenStore {
    /// Deletes what has served its time on a server; programs that use the store do it now and then by themselves.
    ///
    /// That is entries of the record of use after 30 days, but for those of moves, waits and issuers' documents that
    /// have ended, and access tokens that ended a week ago.
    ///
    /// - Returns: how many rows were deleted; none of a file, which is always tidy.
    @discardableResult
    public func tidy() throws -> Int {
        guard location.address != nil else { return 0 }
        return try withWriter { try $0.deleteOutdated() }
    }
}

extension StoreConnection {
    private static let batch: Int64 = 500

    /// A clock of another node may be so many seconds ahead.
    private static let clockDifference: Int64 = 3_600

    /// Deletes rows in small transactions, leaving out those that others have locked.
    fileprivate func deleteOutdated() throws -> Int {
        let (day, past) = (Int64(86_400), now - Self.clockDifference)
        let work: [(Outdated, [Value])] = [
            (.events, [.integer(now - 30 * day)]),
            (.throttles, [.integer(past), .integer(now + Throttle.longest + Self.clockDifference)]),
            (.documents, [.integer(past)]),
            (.accessTokens, [.integer(now - 7 * day)]),
        ]
        let isDistributed = try isDistributed()
        var total = 0
        for (outdated, values) in work {
            while true {
                let count = try write {
                    try isDistributed ? deleteOneByOne(outdated, values) : delete(outdated, values)
                }
                total += count
                guard count == Self.batch else { break }
            }
        }
        return total
    }

    private func delete(_ outdated: Outdated, _ values: [Value]) throws -> Int {
        try connection.changing(outdated.deletion, values + [.integer(Self.batch)])
    }

    /// Over several machines rows cannot be locked while they are looked for, and two programs may delete the same.
    private func deleteOneByOne(_ outdated: Outdated, _ values: [Value]) throws -> Int {
        let rows = try connection.all(outdated.selection, values + [.integer(Self.batch)]) { row in
            outdated.key.indices.map { row.integer(CInt($0)) }
        }
        // In one order, so that the two do not wait for each other.
        for row in rows.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try connection.run(outdated.rowDeletion, values + row.map { .integer($0) })
        }
        return rows.count
    }
}

/// Rows of a table that have served their time.
private final class Outdated: Sendable {
    let key: [String]

    /// A number of them, but for those that others have locked.
    let deletion: SQL

    /// The keys of so many.
    let selection: SQL
    let rowDeletion: SQL

    /// The condition names so many `values`.
    private init(
        _ table: String,
        key: [String] = ["account_id", "id"],
        where condition: String,
        values: Int = 1,
        order: String? = nil
    ) {
        self.key = key
        let sorting = order.map { " ORDER BY \($0)" } ?? ""
        let columns = key.joined(separator: ", ")
        let rows = "SELECT \(columns) FROM \(table) WHERE \(condition)\(sorting) LIMIT ?\(values + 1)"
        selection = SQL(rows)
        let matches = key.map { "t.\($0) = old.\($0)" }.joined(separator: " AND ")
        deletion = SQL("DELETE FROM \(table) t USING (\(rows) FOR UPDATE SKIP LOCKED) old WHERE \(matches)")
        // What was renewed since it was looked for stays.
        let isRow = key.enumerated().map { "\($1) = ?\(values + $0 + 1)" }.joined(separator: " AND ")
        rowDeletion = SQL("DELETE FROM \(table) WHERE \(isRow) AND (\(condition))")
    }

    /// What was moved is told for ever: a copy that runs again asks whether it was done.
    static let events = Outdated("event", where: "at < ?1 AND kind <> 'move'", order: "at")
    static let throttles = Outdated("throttle", where: "ends_at < ?1 OR ends_at > ?2", values: 2)
    static let documents = Outdated("issuer_document", key: ["id"], where: "ends_at < ?1")

    /// One that serves while the issuer cannot be reached ends later.
    static let accessTokens = Outdated(
        "access_token",
        where: "expires_on < ?1 AND coalesce(extended_expires_on, 0) < ?1",
        order: "expires_on"
    )
}
