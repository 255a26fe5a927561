import Database
import Dispatch
import OAuth
import Synchronization

/// The right to refresh, as a row on the server that ends by the server's clock.
///
/// It is replicated like the tokens, so that it outlives a failover. Its holder renews it while a refresh is under way.
/// No lease can stop a holder that was suspended just before it sent the request. So the holder commits beforehand that
/// it will send one, and the next holder finds that.
final class RefreshLease: Sendable {
    /// How long a lease lasts that is not renewed.
    static let length = Duration.seconds(6)
    private static let renewalInterval = DispatchTimeInterval.seconds(2)

    /// How soon a renewal that failed is tried again: a waiter allows the holder ``LapsedLease/wait`` for it.
    private static let retryInterval = DispatchTimeInterval.milliseconds(500)

    /// How long a renewal waits on one connection, which may be dead although the server is there: then there is time
    /// for another one before the lease ends.
    fileprivate static let renewalPatience = Duration.seconds(2)

    /// How long before its end, by the clock of this machine, the holder sends nothing any more.
    private static let margin = Duration.seconds(1)

    private let store: TokenStore
    private let account: Account.ID
    private let holder: [UInt8]

    private struct State {
        /// By this machine's clock; nil once it is known to be lost.
        var end: ContinuousClock.Instant?
        var isOver = false
        /// How long it is renewed at most.
        var limit: ContinuousClock.Instant
    }

    private let state: LockedValue<State>

    private init(
        _ store: TokenStore,
        of account: Account.ID,
        holder: [UInt8],
        from start: ContinuousClock.Instant,
        patience: Duration
    ) {
        (self.store, self.account, self.holder) = (store, account, holder)
        state = LockedValue(State(end: start + Self.length - Self.margin, limit: start + patience))
    }

    deinit {
        guard !state.withLock(\.isOver) else { return }
        // The holder did not give it back; nothing waits for this.
        store.connections.leasing.submit { [store, account, holder] in _ = try? store.endLease(holder, of: account) }
    }

    enum Outcome {
        case taken(RefreshLease)
        case held
        case lapsed(Int64)
        case noAccount
    }

    /// Takes the lease if it is free, or if its holder's process is gone from this machine.
    ///
    /// A lease that ended without being given back is taken only if it ended at `abandoned`.
    static func take(
        _ account: Account.ID,
        _ subject: RefreshLock.Subject,
        from store: TokenStore,
        patience: Duration,
        abandoned: Int64?
    ) async throws -> Outcome {
        let holder = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        let start = ContinuousClock.now
        let answer = try await store.perform {
            try $0.takeLease(of: account, subject.name, holder: holder, abandoned: abandoned)
        }
        switch answer {
        case .taken: break
        case .held: return .held
        case .lapsed(let end): return .lapsed(end)
        case .noAccount: return .noAccount
        }
        let lease = RefreshLease(store, of: account, holder: holder, from: start, patience: patience)
        lease.renewLater()
        return .taken(lease)
    }

    /// Where a renewal waits until it is due.
    private static let clock = DispatchQueue(label: "tokenstore.leases.clock")

    /// Renews the lease now and then while the refresh may last.
    private func renewLater(after interval: DispatchTimeInterval = RefreshLease.renewalInterval) {
        Self.clock.asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self else { return }
            store.connections.leasing.submit { [weak self] in self?.renewIfNeeded() }
        }
    }

    private func renewIfNeeded() {
        guard state.withLock({ !$0.isOver && ContinuousClock.now < $0.limit }) else { return }
        // While the server is away no other process can take the lease, even if it ends meanwhile.
        let isHeld = try? renew()
        if isHeld == false { return }
        renewLater(after: isHeld == nil ? Self.retryInterval : Self.renewalInterval)
    }

    /// Lets it be renewed for as long as an answer may wait for the server.
    ///
    /// A process that took the lease earlier would send the refresh token again that the answer was given for.
    func lastForAnswer() {
        let limit = ContinuousClock.now + store.options.serverAnswerWait
        state.withLock { $0.limit = max($0.limit, limit) }
    }

    /// Lets the lease begin anew, also one that has ended if no other process has taken it.
    ///
    /// - Returns: whether it is still there.
    private func renew() throws -> Bool {
        let start = ContinuousClock.now
        let isHeld = try store.renewLease(holder, of: account)
        state.withLock { $0.end = isHeld ? start + Self.length - Self.margin : nil }
        return isHeld
    }

    /// - Throws: ``TokenStoreError/Code/busy`` if another has the lease by now.
    func requireHeld() async throws {
        if let end = state.withLock({ $0.end }), ContinuousClock.now < end { return }
        guard try await store.perform({ [self] _ in try renew() }) else {
            throw TokenStoreError.busy("another process took the refresh over while this one was held up", .retry)
        }
    }

    /// Ends the lease, so that the next one need not wait.
    func release() async {
        state.withLock { $0.isOver = true }
        // One that cannot be given back ends by itself.
        _ = try? await store.perform { [account, holder] in try $0.endLease(holder, of: account) }
    }
}

extension RefreshLock.Subject {
    /// The name in a row; a client's cannot begin with the separator.
    var name: String {
        switch self {
        case .client(let client): client.folded
        case .family(let family): "\u{1F}" + family
        }
    }
}

/// What came of asking for a lease.
private enum LeaseAnswer: Sendable {
    case taken, held, noAccount
    case lapsed(Int64)
}

extension TokenStore {
    private static let seconds = RefreshLease.length.components.seconds

    /// Runs `body` in a transaction that does not ask which key is current and whether the store may be written to.
    ///
    /// It seals nothing, and the holder of the lease asks that before a token is sent. Asking takes a lock, which would
    /// need a commit even where another process is found to have the lease.
    private func writeLease<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        try connections.withWriter { session in try session.writeOnServer { try body(session) } }
    }

    fileprivate func takeLease(
        of account: Account.ID,
        _ subject: String,
        holder: [UInt8],
        abandoned: Int64?
    ) throws -> LeaseAnswer {
        try writeLease { session in
            // The account's row is not locked: a process that waits for a lease must not delay one that saves tokens.
            guard let found = try session.lease(of: account, subject) else { return .noAccount }
            // The answer to an earlier commit may have been lost.
            if let other = found.holder, other == holder { return .taken }
            // Without a write, which locks the row: many wait for one lease.
            if let other = found.holder, found.end == nil || found.end != abandoned {
                guard found.process.isGone else { return found.end.map { .lapsed($0) } ?? .held }
                try session.connection.run(
                    "UPDATE refresh_lease SET ends_at = statement_timestamp() WHERE account_id = ?1 AND client_fold = ?2 AND holder = ?3",
                    .integer(found.account),
                    .text(subject),
                    .blob(other)
                )
            }
            let process = ProcessIdentity.own
            let taken = try session.connection.integer(
                Self.taking,
                .integer(found.account),
                .text(subject),
                .blob(holder),
                .integer(Self.seconds),
                .text(process.machine),
                .text(options.program),
                .integer(process.id),
                .integer(process.start)
            )
            return taken == nil ? .held : .taken
        }
    }

    /// Takes a lease that is free, has ended, or is the same holder's: the answer to the commit that took it was lost.
    ///
    /// Only the clock of the server that the statement is sent to counts, also where the row is on another machine. So
    /// a lease has ended if the new one, by that clock, would end later by at least the length of one.
    ///
    /// A lease that ends more than a minute after the new one was changed outside the program, as none lasts so long.
    ///
    /// A fence at the greatest integer was tampered with, and begins again at 1.
    private static let taking = SQL(
        """
        INSERT INTO refresh_lease AS l
            (account_id, client_fold, holder, fence, ends_at, host, program, process_id, started_at)
        VALUES (?1, ?2, ?3, 1, clock_timestamp() + CAST(?4 AS double precision) * interval '1 second', ?5, ?6, ?7, ?8)
        ON CONFLICT (account_id, client_fold) DO UPDATE SET holder = excluded.holder,
            fence = CASE WHEN l.fence < 9223372036854775807 THEN l.fence + 1 ELSE 1 END,
            ends_at = excluded.ends_at, host = excluded.host, program = excluded.program,
            process_id = excluded.process_id, started_at = excluded.started_at
        WHERE \(RefreshLease.isOver) OR l.holder = excluded.holder RETURNING fence
        """
    )

    /// - Returns: whether it was still there.
    fileprivate func renewLease(_ holder: [UInt8], of account: Account.ID) throws -> Bool {
        var isFirstTry = true
        return try writeLease { session in
            let values = session.values(.blob(holder), .integer(Self.seconds), of: account)
            let (connection, usual) = (session.connection, session.connection.busyTimeout)
            // One that is dead although the server is there; a slow server has the usual time at the second try.
            let patience = isFirstTry ? min(usual, RefreshLease.renewalPatience) : usual
            isFirstTry = false
            return try connection.withBusyTimeout(patience) { try connection.changing(Self.renewal, values) > 0 }
        }
    }

    /// One that was given back meanwhile stays so: a renewal that began before may come after.
    private static let renewal = SQL { dialect in
        """
        UPDATE refresh_lease SET ends_at = statement_timestamp() + CAST(?2 AS double precision) * interval '1 second'
        WHERE holder = ?1 AND ends_at > '-infinity'\(dialect.owned("account_id", rows: 3))
        """
    }

    fileprivate func endLease(_ holder: [UInt8], of account: Account.ID) throws {
        try writeLease { session in
            try session.connection.run(Self.release, session.values(.blob(holder), of: account))
        }
    }

    private static let release = SQL { dialect in
        """
        UPDATE refresh_lease SET ends_at = '-infinity' WHERE holder = ?1\(dialect.owned("account_id", rows: 2))
        """
    }
}

extension RefreshLease {
    /// Whether the lease of a row has ended when another is taken.
    ///
    /// At the time of one zone: where rows are spread, each machine would compute with a zone of its own, so that Citus
    /// refuses it.
    static let isOver = """
        l.ends_at AT TIME ZONE 'UTC'
                <= excluded.ends_at AT TIME ZONE 'UTC' - CAST(?4 AS double precision) * interval '1 second'
            OR l.ends_at AT TIME ZONE 'UTC' > excluded.ends_at AT TIME ZONE 'UTC' + interval '1 minute'
        """
}
