import Database
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a server is, and what of the store survives its loss.
public struct ServerStatus: Hashable, Sendable {
    /// The version of PostgreSQL, such as `15.8`.
    public let version: String

    /// Whether the connection is encrypted; one over a Unix socket is not, and need not be.
    public let isEncrypted: Bool

    /// The role that this program has signed in as.
    public let role: String

    /// Whether it is a standby, which can only be read.
    public let isStandby: Bool

    /// How old the last commit is that a standby has, so how far it may be behind; zero where it has all that its primary
    /// sent, nil of a primary, and where nothing was written yet.
    public let delay: Duration?

    /// How often another server has taken the place of the one before; nil of a standby.
    public let timeline: Int?

    /// Whether a commit that returned survives a crash of the server.
    public let survivesCrash: Bool

    /// Whether a commit that returned survives the loss of the server, as it has waited for a standby.
    ///
    /// Who may not see the standbys' states takes one that is connected for the one that is waited for.
    public let survivesLoss: Bool

    /// Whether commits wait for a standby, and none is connected: nothing can be written until one is.
    public let lacksStandby: Bool

    /// The machines that have the rows of accounts, each with its port, where Citus spreads them; else none.
    public let machines: [String]

    /// How far the clock of the server is ahead of this machine's.
    public let clockDifference: Duration
}

extension StoreConnection {
    /// nil of a file.
    func serverStatus() throws -> ServerStatus? {
        guard case .server(let server) = connection.engine else { return nil }
        let clock = options.serverClock.map { clock in { clock.ownDate } } ?? options.now
        let before = clock()
        let found = try server.first(Self.settings, []) { row in
            (
                version: row.text(0), role: row.text(1), isStandby: row.bool(2), delay: row.optionalInteger(3),
                timeline: row.optionalInteger(4), isDurable: row.bool(5), waits: row.bool(6), isAlone: row.bool(7),
                clock: row.integer(8)
            )
        }
        guard let found else { return nil }
        let here = (before.timeIntervalSince1970 + clock().timeIntervalSince1970) / 2
        return ServerStatus(
            version: found.version,
            isEncrypted: server.isEncrypted,
            role: found.role,
            isStandby: found.isStandby,
            delay: found.delay.map { .milliseconds($0) },
            timeline: found.timeline.map { Int($0) },
            survivesCrash: found.isDurable,
            survivesLoss: found.isDurable && found.waits,
            lacksStandby: found.isAlone && !found.isStandby,
            machines: try machines(),
            clockDifference: .milliseconds(found.clock) - .milliseconds(Int64(here * 1_000))
        )
    }

    /// Milliseconds since the last commit that a standby has; NULL on a primary.
    ///
    /// None where it is known to have all that its primary sent, which it hears of each half minute at least. A role
    /// that may not see that gets the time.
    private static let delay = """
        CASE WHEN NOT pg_is_in_recovery() THEN NULL
            WHEN pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn()
                AND EXISTS (SELECT 1 FROM pg_stat_wal_receiver
                    WHERE last_msg_receipt_time > clock_timestamp() - interval '35 s') THEN 0::bigint
            ELSE (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000::numeric)::bigint END
        """

    fileprivate static let delayOfStandby = SQL("SELECT \(delay)")

    private static let settings = SQL(
        """
        SELECT split_part(current_setting('server_version'), ' ', 1), current_user::text, pg_is_in_recovery(),
            \(delay),
            CASE WHEN NOT pg_is_in_recovery() THEN
                ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END,
            current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'
                AND current_setting('synchronous_commit') <> 'off',
            current_setting('synchronous_standby_names') <> ''
                AND current_setting('synchronous_commit') IN ('on', 'remote_apply', 'remote_write')
                AND EXISTS (SELECT 1 FROM pg_stat_get_wal_senders() s
                    WHERE coalesce(s.sync_state, 'sync'::text) IN ('sync', 'quorum')),
            current_setting('synchronous_standby_names') <> ''
                AND NOT EXISTS (SELECT 1 FROM pg_stat_get_wal_senders()),
            (extract(epoch FROM clock_timestamp()) * 1000::numeric)::bigint
        """
    )
}

extension StoreReading {
    /// How far the standby may be behind that this is read from; nil of a primary, of a file, and where the address allows
    /// no standby.
    package func standbyDelay() throws -> Duration? {
        guard location.mayBeStandby else { return nil }
        return try read { session in
            guard case .server(let server) = session.connection.engine else { return nil }
            let delay = try server.first(StoreConnection.delayOfStandby, []) { $0.optionalInteger(0) } ?? nil
            return delay.map { Duration.milliseconds($0) }
        }
    }
}
