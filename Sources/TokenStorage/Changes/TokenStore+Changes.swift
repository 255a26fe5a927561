import Database
public import OAuth
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension TokenStore {
    /// What commits of this process and of others change from now on.
    ///
    /// A subscriber that leaves a thousand changes unread, or is too slow for the record of use, which keeps the last
    /// few thousand entries, is told ``StoreChange/many``. The sequence ends when its task is cancelled or the store
    /// can no longer be read; while another process holds it, or the server is away, the sequence waits. Where rows are
    /// on several machines, and at a standby, a change is told when no older transaction is open any more, so that none
    /// is missed.
    ///
    /// A subscription has a thread, which sleeps until the file system wakes it up, or the server, and reads what was
    /// committed. One of a file has an inotify instance too, of which Linux allows a user a hundred or so. A program
    /// that serves many people subscribes once, and asks of each change whom it concerns.
    ///
    /// - Throws: ``TokenStoreError``: ``TokenStoreError/Code/file`` if the file cannot be watched,
    ///   ``TokenStoreError/Code/storage`` if no thread can be started.
    public func changes() throws -> AsyncStream<StoreChange> { try changes(about: nil) }

    /// The same of one account: those of others take no place among what is unread.
    package func changes(about account: Account.ID?) throws -> AsyncStream<StoreChange> {
        guard let path = location.path else { return try changesOnServer(about: account) }
        let watch = try CommitObserver(path)
        let (start, accounts) = try read { session in
            try session.connection.read {
                (RecordPlace(file: session.file, last: try session.lastEvent()), try session.accountsByMark())
            }
        }
        let (stream, continuation) = ChangeTeller.stream()
        continuation.onTermination = { _ in watch.stop() }
        let teller = ChangeTeller(continuation, about: accounts, only: account)
        try startThread { [self] in report(from: start, by: teller, waitingWith: watch) }
        return stream
    }

    /// Runs `body` on a thread that may wait for as long as somebody subscribes.
    func startThread(_ body: @escaping @Sendable () -> Void) throws(TokenStoreError) {
        guard !DetachedThread.start(body) else { return }
        let reason = String(cString: strerror(errno)).lowercased()
        throw .storage(
            "no thread can be started that waits for changes, \(reason)",
            Remedy(.retry, "allow this program more threads, and try again")
        ).at(location)
    }

    /// Runs on the watch's thread until it is stopped.
    private func report(from start: RecordPlace, by teller: ChangeTeller, waitingWith watch: CommitObserver) {
        var (place, teller, quietLooks) = (start, teller, 0)
        while true {
            let wait: Int32
            do {
                let (events, current) = try read { session in
                    try session.connection.read {
                        let current = RecordPlace(file: session.file, last: try session.lastEvent())
                        return (try session.events(after: place.last), current)
                    }
                }
                if current.file == place.file {
                    teller.tell(events, areMany: events.first.map { $0.id > place.last + 1 } ?? false)
                    place.last = events.last?.id ?? place.last
                } else {
                    // A backup may have taken the place of the file, whose entries have numbers of their own.
                    teller.tell([], areMany: true)
                    place = current
                }
                wait = quietLooks < Self.looks.count ? Self.looks[quietLooks] : -1
            } catch let error as TokenStoreError where error.code == .busy {
                // What is committed meanwhile is told once the store can be read again.
                wait = 1_000
            } catch {
                // A store that cannot be read any more has no changes to tell; reading it again says why.
                break
            }
            let wake = watch.wait(wait)
            if wake == .stopped { break }
            quietLooks = wake == .quiet ? quietLooks + 1 : 0
        }
        teller.finish()
    }

    /// After how many milliseconds to look again for a commit whose process was killed before it could announce it.
    private static let looks: [Int32] = [20, 200, 2_000]
}

/// Up to where the record of use of a file was read.
private struct RecordPlace: Sendable {
    let file: FileStatus.Identity?

    /// The last entry that was told.
    var last: Int64
}

/// Tells a subscriber what the entries of the record of use say.
struct ChangeTeller {
    private let continuation: AsyncStream<StoreChange>.Continuation

    /// An account that is gone is in the record by its mark alone.
    private var known: [[UInt8]: Account.ID]

    /// The account that the subscriber asks about; nil: all.
    private let account: Account.ID?

    /// How many changes may wait for a subscriber.
    private static let limit = 1_000

    init(
        _ continuation: AsyncStream<StoreChange>.Continuation,
        about known: [[UInt8]: Account.ID],
        only account: Account.ID? = nil
    ) {
        self.continuation = continuation
        self.known = known
        self.account = account
    }

    /// What a subscriber reads, which keeps the newest changes, and where to tell them.
    static func stream() -> (AsyncStream<StoreChange>, AsyncStream<StoreChange>.Continuation) {
        AsyncStream.makeStream(of: StoreChange.self, bufferingPolicy: .bufferingNewest(limit))
    }

    /// Tells what entries say; `areMany`: entries before them are not known.
    mutating func tell(_ events: [StoreEvent], areMany: Bool) {
        if areMany { tell(.many) }
        for event in events {
            if let mark = event.accountMark, let account = event.account, known.count < StoreEvent.limit * 2 {
                known[mark] = account
            }
            tell(StoreChange(event, about: event.account ?? event.accountMark.flatMap { known[$0] }))
        }
    }

    private func tell(_ change: StoreChange) {
        if let account, !change.concerns(account) { return }
        // The oldest one gave way, and what it said is said by one that comes later.
        if case .dropped = continuation.yield(change) { continuation.yield(.many) }
    }

    func finish() { continuation.finish() }
}

/// Something that a commit of this or another process changed.
public enum StoreChange: Hashable, Sendable {
    case signedIn(Account.ID)
    case tokensReplaced(Account.ID)
    case signedOut(Account.ID)

    /// Several accounts, or it is not known which: look at the store again.
    case many

    /// Whether an account may have changed.
    public func concerns(_ account: Account.ID) -> Bool {
        switch self {
        case .signedIn(let id), .tokensReplaced(let id), .signedOut(let id): id == account
        case .many: true
        }
    }

    init(_ event: StoreEvent, about account: Account.ID?) {
        self =
            switch (event.kind, account) {
            case (.signIn, let account?): .signedIn(account)
            case (.refresh, let account?), (.refused, let account?): .tokensReplaced(account)
            case (.signOut, let account?): .signedOut(account)
            default: .many
            }
    }
}
