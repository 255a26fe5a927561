import Database
import OAuth
import SQL

/// A lease that has ended and was not given back, as one waiter sees it.
///
/// Its holder may be alive, with the refresh token sent, and could not renew it because the server was away: so another
/// takes it only when it was not renewed for a while in which the server was there.
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
    private static let momentOfEnd = """
        CASE WHEN l.ends_at <= clock_timestamp() THEN CAST(extract(epoch FROM l.ends_at) * 1000000 AS bigint) END
        """

    /// Of a lease that was not given back and may be its holder's still: one that ended long ago is never renewed.
    private static let isOfSomebody = """
        l.ends_at > clock_timestamp() - interval '10 minutes' AND l.ends_at < clock_timestamp() + interval '2 minutes'
        """

    /// The row of an account, with the lease if it was not given back.
    fileprivate static let rowAndLease = SQL { dialect in
        """
        SELECT a.id, l.holder, l.host, l.process_id, l.started_at, \(momentOfEnd) FROM account a
        LEFT JOIN refresh_lease l ON l.account_id = a.id AND l.client_fold = ?3
            AND \(isOfSomebody) \(dialect.owned("l.account_id", rows: 4))
        WHERE \(dialect.account("a", key: "?1", authority: "?2", rows: 4))
        """
    }
}

/// What a server has of the right to refresh.
struct FoundLease {
    /// The row of the account.
    let account: Int64

    /// Nil where the lease was given back.
    let holder: [UInt8]?
    let process: ProcessIdentity

    /// When it ended, in microseconds; nil while it lasts.
    let end: Int64?

    /// What it looks like to who waits for it.
    var look: RefreshLease.Look {
        guard holder != nil, !process.isGone else { return .free }
        return end.map { .lapsed($0) } ?? .held
    }
}

extension StoreConnection {
    /// The lease of an account; nil where that is not stored.
    func lease(of account: Account.ID, _ subject: String) throws -> FoundLease? {
        let values = values(.text(account.key), .text(account.issuer), .text(subject), of: account)
        return try connection.first(RefreshLease.rowAndLease, values) { row in
            FoundLease(
                account: row.integer(0),
                holder: row.optionalBlob(1),
                process: ProcessIdentity(row, from: 2),
                end: row.optionalInteger(5)
            )
        }
    }
}

extension StoreReading {
    fileprivate func lookAtLease(of account: Account.ID, _ subject: String) throws -> RefreshLease.Look {
        try read { session in try session.lease(of: account, subject)?.look ?? .free }
    }
}
