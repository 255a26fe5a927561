import Database
import Dispatch
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The right to refresh, as a row on the server that ends by the server's clock.
///
/// It is replicated like the tokens, so that a failover takes it from nobody. Its holder renews it while a refresh is
/// under way. What no lease can do is to stop a holder that was suspended just before it sent the request: what it meant
/// to do is committed before, and tells the next one.
final class RefreshLease: Sendable {
    /// How long a lease lasts that is not renewed.
    static let length = Duration.seconds(6)
    private static let renewalInterval = DispatchTimeInterval.seconds(2)

    /// How long before its end, by the clock of this machine, the holder sends nothing any more.
    private static let margin = Duration.seconds(1)

    private let store: TokenStore
    private let account: Account.ID
    private let holder: [UInt8]

    private struct State {
        /// By this machine's clock; nil once it is known to be lost or given back.
        var end: ContinuousClock.Instant?
        var isOver = false
    }

    private let state = LockedValue(State())

    private init(_ store: TokenStore, of account: Account.ID, holder: [UInt8], end: ContinuousClock.Instant) {
        (self.store, self.account, self.holder) = (store, account, holder)
        state.withLock { $0.end = end }
    }

    deinit {
        guard !state.withLock(\.isOver) else { return }
        // Nobody has waited for the release, and nobody waits for this one.
        Self.renewals.async { [store, account, holder] in _ = try? store.endLease(holder, of: account) }
    }

    enum Outcome {
        case taken(RefreshLease)
        case held
        case noAccount
    }

    /// Takes the lease if nobody has it, or if its holder's process is gone from this machine.
    static func take(
        _ account: Account.ID,
        _ subject: RefreshLock.Subject,
        from store: TokenStore,
        patience: Duration,
        _ isFirstTry: Bool
    ) async throws -> Outcome {
        let holder = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        // A waiter looks before it writes: many wait for one lease.
        if !isFirstTry, try await store.performRead({ try $0.isLeaseHeld(of: account, subject.name) }) { return .held }
        let start = ContinuousClock.now
        let outcome = try await store.perform { try $0.takeLease(of: account, subject.name, holder: holder) }
        guard outcome == .taken else { return outcome == .held ? .held : .noAccount }
        let lease = RefreshLease(store, of: account, holder: holder, end: start + length - margin)
        lease.renewLater(until: start + patience)
        return .taken(lease)
    }

    /// Renewals have threads of their own: tasks may wait for a thread longer than a lease lasts.
    private static let renewals = DispatchQueue(label: "tokenstore.leases", attributes: .concurrent)

    /// Renews the lease now and then while the refresh may last.
    private func renewLater(until limit: ContinuousClock.Instant) {
        Self.renewals.asyncAfter(deadline: .now() + Self.renewalInterval) { [weak self] in
            guard let self, !state.withLock(\.isOver), ContinuousClock.now < limit else { return }
            // The server may be back in time; if not, the lease ends by itself.
            if let isHeld = try? renew(), !isHeld { return }
            renewLater(until: limit)
        }
    }

    /// Lets the lease begin anew, also one that has ended and that nobody else has taken.
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
    fileprivate var name: String {
        switch self {
        case .client(let client): client.folded
        case .family(let family): "\u{1F}" + family
        }
    }
}

/// What came of asking for a lease.
private enum LeaseAnswer: Sendable {
    case taken, held, noAccount
}

extension TokenStore {
    private static let seconds = RefreshLease.length.components.seconds

    fileprivate func takeLease(of account: Account.ID, _ subject: String, holder: [UInt8]) throws -> LeaseAnswer {
        try write { session in
            let identity = session.values(.text(account.key), .text(account.issuer), of: account)
            // Not locked: who waits for a lease is not to hold up whoever saves tokens.
            guard let row = try session.connection.integer(StoreConnection.rowOfAccount, identity) else {
                return .noAccount
            }
            let process = ProcessIdentity.own
            let taken = try session.connection.integer(
                Self.taking,
                .integer(row),
                .text(subject),
                .blob(holder),
                .integer(Self.seconds),
                .text(process.machine),
                .text(options.program),
                .integer(process.id),
                .integer(process.start)
            )
            if taken != nil { return .taken }
            let other = try session.connection.first(Self.holderOfLease, .integer(row), .text(subject)) { found in
                (found.blob(0), ProcessIdentity(machine: found.text(1), id: found.integer(2), start: found.integer(3)))
            }
            guard let other, other.1.isGone else { return .held }
            try session.connection.run(
                "UPDATE refresh_lease SET ends_at = statement_timestamp() WHERE account_id = ?1 AND client_fold = ?2 AND holder = ?3",
                .integer(row),
                .text(subject),
                .blob(other.0)
            )
            return .held
        }
    }

    /// The one clock that counts is that of the server which the statement is sent to, also where the row is on another
    /// machine: so a lease has ended when the new one would end so much later as it lasts.
    ///
    /// One of the same holder is its own: the answer to the commit that took it was lost.
    private static let taking = SQL(
        """
        INSERT INTO refresh_lease AS l
            (account_id, client_fold, holder, fence, ends_at, host, program, process_id, started_at)
        VALUES (?1, ?2, ?3, 1, clock_timestamp() + ?4 * interval '1 second', ?5, ?6, ?7, ?8)
        ON CONFLICT (account_id, client_fold) DO UPDATE SET holder = excluded.holder, fence = l.fence + 1,
            ends_at = excluded.ends_at, host = excluded.host, program = excluded.program,
            process_id = excluded.process_id, started_at = excluded.started_at
        WHERE excluded.ends_at - l.ends_at >= ?4 * interval '1 second' OR l.holder = excluded.holder RETURNING fence
        """
    )

    private static let holderOfLease = SQL(
        "SELECT holder, host, process_id, started_at FROM refresh_lease WHERE account_id = ?1 AND client_fold = ?2"
    )

    /// - Returns: whether it was still there.
    fileprivate func renewLease(_ holder: [UInt8], of account: Account.ID) throws -> Bool {
        try write { session in
            let values = session.values(.blob(holder), .integer(Self.seconds), of: account)
            return try session.connection.changing(Self.renewal, values) > 0
        }
    }

    private static let renewal = SQL { dialect in
        """
        UPDATE refresh_lease SET ends_at = statement_timestamp() + ?2 * interval '1 second'
        WHERE holder = ?1\(dialect.owned("account_id", rows: 3))
        """
    }

    fileprivate func endLease(_ holder: [UInt8], of account: Account.ID) throws {
        try write { session in
            try session.connection.run(Self.release, session.values(.blob(holder), of: account))
        }
    }

    private static let release = SQL { dialect in
        """
        UPDATE refresh_lease SET ends_at = statement_timestamp()
        WHERE holder = ?1\(dialect.owned("account_id", rows: 2))
        """
    }
}

extension StoreReading {
    fileprivate func isLeaseHeld(of account: Account.ID, _ subject: String) throws -> Bool {
        try read { session in
            let values = session.values(.text(account.key), .text(account.issuer), .text(subject), of: account)
            let other = try session.connection.first(heldLease, values) {
                ProcessIdentity(machine: $0.text(0), id: $0.integer(1), start: $0.integer(2))
            }
            return other.map { !$0.isGone } ?? false
        }
    }
}

private let heldLease = SQL { dialect in
    """
    SELECT l.host, l.process_id, l.started_at FROM refresh_lease l JOIN account a ON a.id = l.account_id
    WHERE \(dialect.account("a", key: "?1", authority: "?2", rows: 4, owners: ["l.account_id"]))
        AND l.client_fold = ?3 AND l.ends_at > clock_timestamp()
    """
}

/// A process of a machine, which is told from a later one of the same number by the time of its start.
struct ProcessIdentity: Hashable {
    /// The running system and the name space of its process numbers: containers have one each.
    let machine: String
    let id: Int64

    /// In the system's own unit; 0 where it does not tell.
    let start: Int64

    static let own = ProcessIdentity(
        machine: Self.thisMachine,
        id: Int64(getpid()),
        start: Self.start(of: Int64(getpid())) ?? 0
    )

    /// Whether the process was of this machine, and has ended.
    var isGone: Bool {
        guard machine == Self.thisMachine, !machine.isEmpty else { return false }
        guard kill(pid_t(truncatingIfNeeded: id), 0) == 0 || errno == EPERM else { return true }
        guard start != 0, let now = Self.start(of: id) else { return false }
        return now != start
    }

    #if os(Linux)
    private static let thisMachine: String = {
        let boot = text(of: "/proc/sys/kernel/random/boot_id")
        var space = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/ns/pid", &space, space.count - 1)
        guard !boot.isEmpty, count > 0 else { return "" }
        return boot + " " + String(decoding: space.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// The 22nd field of a process's state; the second one, its name, may hold spaces and brackets.
    private static func start(of id: Int64) -> Int64? {
        let fields = text(of: "/proc/\(id)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 19 ? Int64(fields[19]) : nil
    }

    /// The beginning of a small file of the kernel, without the line's end; empty where it cannot be read.
    private static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return "" }
        return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    #else
    /// A process of another machine may have the same number, and nothing here tells one system from another.
    private static let thisMachine = ""

    private static func start(of id: Int64) -> Int64? { nil }
    #endif
}
