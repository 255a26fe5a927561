public import OAuth

extension TokenStore {
    /// What commits of this process and of others change from now on.
    ///
    /// A subscriber that leaves a thousand changes unread, or is too slow for the record of use, which keeps the last
    /// few thousand entries, is told ``StoreChange/many``. The sequence ends when its task is cancelled or the store
    /// can no longer be read; while another process holds it, or the server is away, the sequence waits. Where rows are
    /// on several machines, and at a standby, a change is told when no older transaction is open any more, so that none
    /// is missed.
    ///
    /// All subscriptions of an open store share a thread, which sleeps until the file system wakes it up, or the
    /// server, and reads what was committed; on a file they share an inotify instance too. A program may have as many
    /// as it serves people. When the store can no longer be read, all of them end together.
    ///
    /// - Throws: ``TokenStoreError``: ``TokenStoreError/Code/file`` if the file cannot be watched,
    ///   ``TokenStoreError/Code/storage`` if no thread can be started.
    public func changes() throws -> AsyncStream<StoreChange> { try changes(about: nil) }

    /// The same of one account: those of others take no place among what is unread.
    package func changes(about account: Account.ID?) throws -> AsyncStream<StoreChange> {
        try changeReader.subscribe(to: self, about: account)
    }
}

/// Up to where the record of use of a file was read.
struct FileCursor: RecordCursor {
    private let file: FileStatus.Identity?

    /// The last entry that was told.
    private var last: Int64

    init(behindAllOf session: StoreConnection) throws { (file, last) = (session.file, try session.lastEvent()) }

    func news(_ session: StoreConnection) throws -> News {
        var next = try FileCursor(behindAllOf: session)
        // A backup may have taken the place of the file, whose entries have numbers of their own.
        guard next.file == file, next.last >= last else { return ([], true, next) }
        let events = try session.events(after: last)
        next.last = events.last?.id ?? last
        return (events, events.first.map { $0.id > last + 1 } ?? false, next)
    }

    var waiting: Set<Int64> { [] }

    func pause(after quietLooks: Int) -> Duration? { quietLooks < Self.looks.count ? Self.looks[quietLooks] : nil }

    /// When to look again for a commit whose process was killed before it could announce it.
    private static let looks: [Duration] = [.milliseconds(20), .milliseconds(200), .seconds(2)]
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
