import Database
import OAuth
import SQLite
import Sealing
import Synchronization

/// Notices what this process and others commit to a file, so that memory forgets what that concerns.
///
/// A commit changes memory that all processes share, which each lookup looks at without a lock. Which accounts it was
/// about is in the record of use, where everything is entered that may take a token away. Where more was committed than
/// is entered there, by another program than this one, memory is emptied.
///
/// `@unchecked Sendable`: what changes is touched only while the lock is held.
final class FileWatch: @unchecked Sendable {
    let cache: AccessTokenCache
    let ownCommits = OwnCommits()
    private let marks = AccountMarks()
    private let lock = LockedValue<Void>(())

    /// The connection by which commits are noticed, and its sign; a file without a shared index has none.
    private var session: StoreConnection?
    private var sign: LogSign?

    /// What memory was made to agree with.
    private var version = MemoryVersion(epoch: 0)

    /// The last known entry of the record of use; 0 before the first look.
    private var lastEvent: Int64 = 0

    init() { cache = AccessTokenCache { [marks] in marks.number(of: $0) } }

    /// Makes memory forget what was committed since the last call.
    ///
    /// - Returns: what memory holds then.
    /// - Throws: ``ReplacedFile``, and what `open` throws, which opens the file at the first call.
    func catchUp(or open: () throws -> StoreConnection) throws -> MemoryVersion {
        try lock.withLock { _ in
            try session?.requireNameNowAndThen()
            let session = try session ?? begin(open())
            for attempt in 1... {
                // Read before the record is, so that what is committed in between is noticed the next time.
                let now = MemoryVersion(epoch: version.epoch, commits: try commits(session))
                guard now != version else { break }
                let news = try news(session)
                // While others commit, what is read is of more than that version.
                guard try attempt == Self.attempts || commits(session) == now.commits else { continue }
                try follow(news, to: now, session)
                break
            }
            return version
        }
    }

    private static let attempts = 5

    /// Closes the connection, unless another thread is using it; memory is empty then.
    ///
    /// - Returns: whether it is closed.
    func close() -> Bool {
        lock.withLockIfAvailable { _ in end() } != nil
    }

    private func end() {
        // The shared memory is there as long as the connection.
        cache.stopFollowing()
        ownCommits.isWanted = false
        (session, sign) = (nil, nil)
    }

    private func begin(_ opened: StoreConnection) throws -> StoreConnection {
        let header = opened.mode == .readWrite ? try LogHeader(of: opened.connection.sqlite) : nil
        sign = header.map { LogSign($0, of: opened, epoch: version.epoch + 1) }
        version = MemoryVersion(epoch: version.epoch + 1)
        lastEvent = 0
        session = opened
        ownCommits.isWanted = sign != nil
        return opened
    }

    private func commits(_ session: StoreConnection) throws -> LogHeader.Words {
        if let sign { return sign.commits }
        var commits = LogHeader.Words.zero
        // From one, as nothing was noticed yet.
        commits[0] = UInt64(bitPattern: try session.connection.dataVersion()) &+ 1
        return commits
    }

    private static let longestLook = OwnCommits.longestLook

    /// What the record of use says since the last look.
    private struct News {
        /// The entries with their accounts; the first is the last known one.
        let events: [(id: Int64, account: Int64?)]
        let markKey: MarkKey?
    }

    private func news(_ session: StoreConnection) throws -> News {
        try session.connection.read {
            News(
                events: lastEvent == 0 ? [] : try session.markedEvents(from: lastEvent, limit: Self.longestLook + 2),
                markKey: session.isWithoutKey ? nil : try session.currentMarkKey()
            )
        }
    }

    private func follow(_ news: News, to now: MemoryVersion, _ session: StoreConnection) throws {
        let new = news.events.dropFirst().map(\.account)
        let isAccounted = isAccounted(for: new.count, to: now)
        let isSameKey = marks.take(news.markKey)
        // Each is numbered one above the one before; else some are missing.
        let isWhole =
            !news.events.isEmpty && new.count <= Self.longestLook
            && news.events.enumerated().allSatisfy { $1.id == lastEvent &+ Int64($0) }
        let isTold = isAccounted && isSameKey && isWhole && !new.contains(nil)
        cache.follow(sign, to: now, without: isTold ? new.compactMap(\.self) : nil)
        lastEvent = isWhole ? lastEvent &+ Int64(new.count) : try session.lastEvent()
        version = now
    }

    /// Whether each commit since the last look is this process's, or has its one entry among the `entries` new ones.
    ///
    /// A commit that came after the version was read may have its entry among them already; then it is not.
    private func isAccounted(for entries: Int, to now: MemoryVersion) -> Bool {
        guard sign != nil else { return false }
        let (first, last) = (version.commits.commitCount, now.commits.commitCount)
        let count = Int(last &- first)
        guard count <= Self.longestLook else {
            ownCommits.removeAll()
            return false
        }
        let own = ownCommits.take((0..<count).map { first &+ 1 &+ UInt32($0) })
        return count - own.commits == entries - own.entries
    }
}

/// The memory by which a file tells of commits, for as long as the file has its name.
///
/// `@unchecked Sendable`: the connection is only kept open.
private final class LogSign: CommitSign, @unchecked Sendable {
    private let session: StoreConnection
    private let header: LogHeader
    private let epoch: Int64
    private let database: String
    private let file: FileStatus.Identity?
    private let interval: Int64

    /// When the name is to be looked at again, by the coarse clock.
    private let nextLook: Atomic<Int64>

    init(_ header: LogHeader, of session: StoreConnection, epoch: Int64) {
        (self.header, self.session, self.epoch) = (header, session, epoch)
        (database, file) = (session.path.database, session.file)
        interval = session.options.replacementLookInterval.nanoseconds
        nextLook = Atomic(CoarseClock.now + interval)
    }

    var commits: LogHeader.Words { header.words }

    var version: MemoryVersion? { hasName ? MemoryVersion(epoch: epoch, commits: commits) : nil }

    /// Whether the file had its name when that was last looked at, by one caller for all.
    private var hasName: Bool {
        let (now, due) = (CoarseClock.now, nextLook.load(ordering: .relaxed))
        guard now >= due else { return true }
        guard due > .min else { return false }
        guard nextLook.compareExchange(expected: due, desired: now + interval, ordering: .relaxed).exchanged else {
            return true
        }
        if FileStatus(database)?.identity == file { return true }
        nextLook.store(.min, ordering: .relaxed)
        return false
    }
}

/// Numbers by which the record of use of a file names accounts, also those that are gone.
///
/// They are parts of the marks, whose key is in the file.
final class AccountMarks: Sendable {
    private let key = LockedValue<MarkKey?>(nil)

    /// - Returns: whether it is the key from before.
    fileprivate func take(_ new: MarkKey?) -> Bool {
        key.withLock { key in
            defer { key = new }
            return key?.sealed == new?.sealed
        }
    }

    /// 0 for every account while there is no key; the first entry about an account brings one, and empties memory.
    func number(of account: Account.ID) -> Int64 { key.withLock { $0 }.map { Self.number($0.mark(of: account)) } ?? 0 }

    static func number(_ mark: [UInt8]) -> Int64 { mark.prefix(8).reduce(0) { $0 << 8 | Int64($1) } }
}

extension StoreConnection {
    private static let markedEvents = SQL("SELECT id, account_mark FROM event WHERE id >= ?1 ORDER BY id LIMIT ?2")

    /// The entries of the record of use from one on, each with the account it is about; nil for any.
    fileprivate func markedEvents(from id: Int64, limit: Int) throws -> [(id: Int64, account: Int64?)] {
        try connection.all(Self.markedEvents, .integer(id), .integer(Int64(limit))) { row in
            (row.integer(0), row.optionalBlob(1).map(AccountMarks.number))
        }
    }
}
