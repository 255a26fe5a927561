import Database
import OAuth
import Synchronization

/// Which of the servers that take each other's place is the newest: each promotion of a standby begins a timeline.
///
/// The one of before may be back, or never have gone, and take itself for the one that counts.
final class Timelines: Sendable {
    private let searchPath: String
    private let clock: ServerClock?
    private let newest = LockedValue<Int64>(0)

    init(_ address: ServerAddress, clock: ServerClock?) { (searchPath, self.clock) = (address.searchPath, clock) }

    /// Whether no newer one was seen; a standby tells none, and cannot be written to anyway.
    func isNewest(_ timeline: Int64) -> Bool { timeline == 0 || timeline == newest.withLock(\.self) }

    /// Looks at the server behind a new connection, once.
    ///
    /// One behind a pooler that has lost what the session was to begin with is not vetted.
    ///
    /// - Throws: an error for which the next host is tried, if another server has taken the place of this one.
    func judge(_ connection: PostgreSQL.Connection) throws(PostgreSQLError) {
        do {
            try look(at: connection)
        } catch let error as PostgreSQLError {
            throw error
        } catch {
            throw PostgreSQLError(.connectionLost, "\(error)", state: .lost)
        }
    }

    private func look(at connection: PostgreSQL.Connection) throws {
        let start = clock?.ownDate
        // Without a name, which behind a pooler would stay in a session of others.
        let found = try connection.prepare(Self.server).first([.text(searchPath)]) {
            (
                isConfigured: $0.bool(0), timeline: $0.integer(1), time: $0.integer(2), spreadsRows: $0.bool(3),
                session: PostgreSQL.Connection.Session(process: $0.integer(4), start: $0.integer(5)),
                keepsReferences: $0.bool(6), encoding: $0.text(7)
            )
        }
        guard let (isConfigured, timeline, time, spreadsRows, session, keepsReferences, encoding) = found, isConfigured
        else { return }
        guard keepsReferences else {
            throw PostgreSQLError(
                .setting,
                "session_replication_role is replica, with which the tokens of an account stay when it is deleted",
                state: .lost
            )
        }
        newest.withLock { $0 = max($0, timeline) }
        guard isNewest(timeline) else {
            throw PostgreSQLError(
                .wrongKindOfServer,
                "another server has taken its place: its timeline is \(timeline), and a newer one was seen",
                state: .lost
            )
        }
        if let start { clock?.learn(time, since: start) }
        if spreadsRows { try connection.spreadRows() }
        (connection.session, connection.encoding) = (session, encoding)
        (connection.timeline, connection.isVetted) = (timeline, true)
    }

    private static let server = """
        SELECT current_setting('plan_cache_mode') = 'force_generic_plan' AND current_setting('search_path') = ?1,
            CASE WHEN pg_is_in_recovery() THEN 0
                ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END,
            (extract(epoch FROM clock_timestamp()) * 1000::numeric)::bigint,
            to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL, pg_backend_pid(),
            (SELECT (extract(epoch FROM a.backend_start) * 1000000::numeric)::bigint
                FROM pg_stat_get_activity(pg_backend_pid()) a),
            current_setting('session_replication_role') <> 'replica', current_setting('server_encoding')
        """

    /// The timeline of the server that answers now; nil where it has not the store `storeID`.
    ///
    /// Behind a pooler a connection stays when another server takes the place of the one that was looked at.
    static func current(of connection: PostgreSQL.Connection, with storeID: [UInt8]) throws -> Int64? {
        // Not in one statement: where rows are spread, another machine may answer what is asked of a table.
        let timeline = try connection.ask(number)
        guard try connection.integer(store, .blob(storeID)) != nil else { return nil }
        return try timeline.integer()
    }

    private static let store: StaticString = "SELECT id FROM store WHERE store_id = ?1"

    private static let number: StaticString = """
        SELECT CASE WHEN pg_is_in_recovery() THEN 0
            ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END
        """
}
