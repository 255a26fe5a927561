import Database
import OAuth
import SQL

/// A lease that has ended and was not given back, as one waiter sees it.
///
/// Its holder may be alive, with the refresh token sent, and could not renew it because the server was away: so another
/// takes it only when nobody has renewed it for a while in which the server was there.
struct LapsedLease {
    /// How long a holder that is alive may take to renew it once the server is back.
    static let wait = Duration.seconds(3)

    private var end: Int64?
    private var seen = Duration.zero
    private var lastLook = ContinuousClock.now

    /// The end of a lease that was waited for long enough.
    var abandoned: Int64? { seen >= Self.wait ? end : nil }

    mutating func note(_ look: RefreshLease.Look) {
        let now = ContinuousClock.now
        var newEnd: Int64?
        if case .lapsed(let moment) = look { newEnd = moment }
        // Between two looks the server may have been away, or this machine may have slept.
        seen = newEnd == end ? seen + min(now - lastLook, .milliseconds(100)) : .zero
        (end, lastLook) = (newEnd, now)
    }
}

extension RefreshLease {
    /// What a lease looks like to who waits for it.
    enum Look: Hashable, Sendable {
        case free
        /// It is another's, whose process is not known to be gone.
        case held
        /// It ended at that moment and was not given back: its holder may be alive.
        case lapsed(Int64)
    }

    static func look(
        of account: Account.ID,
        _ subject: RefreshLock.Subject,
        in store: TokenStore
    ) async throws -> Look {
        try await store.performRead { try $0.lookAtLease(of: account, subject.name) }
    }

    /// When a lease ended, in microseconds; nothing while it lasts.
    static let momentOfEnd = """
        CASE WHEN l.ends_at <= clock_timestamp() THEN CAST(extract(epoch FROM l.ends_at) * 1000000 AS bigint) END
        """

    /// Of a lease that was not given back and may be its holder's still: one that ended long ago is renewed by nobody.
    static let isOfSomebody = """
        l.ends_at > clock_timestamp() - interval '10 minutes' AND l.ends_at < clock_timestamp() + interval '2 minutes'
        """

    fileprivate static let ofSomebody = SQL { dialect in
        """
        SELECT l.host, l.process_id, l.started_at, \(momentOfEnd)
        FROM refresh_lease l JOIN account a ON a.id = l.account_id
        WHERE \(dialect.account("a", key: "?1", authority: "?2", rows: 4, owners: ["l.account_id"]))
            AND l.client_fold = ?3 AND \(isOfSomebody)
        """
    }
}

extension StoreReading {
    fileprivate func lookAtLease(of account: Account.ID, _ subject: String) throws -> RefreshLease.Look {
        try read { session in
            let values = session.values(.text(account.key), .text(account.issuer), .text(subject), of: account)
            let found = try session.connection.first(RefreshLease.ofSomebody, values) {
                (process: ProcessIdentity($0, from: 0), end: $0.optionalInteger(3))
            }
            guard let found, !found.process.isGone else { return .free }
            return found.end.map { .lapsed($0) } ?? .held
        }
    }
}
