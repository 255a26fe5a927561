import Database
import OAuth
import Synchronization

/// The connections to a store that is a file: those that read, the one that writes, and the one that notices commits.
final class FileConnections: Sendable {
    let path: StorePath
    let options: StoreOptions
    let isInspection: Bool

    /// Connections for reading: one per reader at a time, so that reads wait neither for each other nor for a write.
    private let readers = ReaderPool()
    private let writer = LockedConnection()

    /// Notices commits, by a connection of its own.
    let watch = FileWatch()

    /// How many calls that write are under way, and since when none of them was done.
    let writes = LockedValue((count: 0, since: ContinuousClock.now))

    private let replacedLog = LockedValue(ReplacedLog())

    /// When it was last tried whether the file can be written to.
    let trial = LockedValue<(at: ContinuousClock.Instant, isHeld: Bool)?>(nil)

    /// The log of a file that was replaced while it was open here; nothing may be read together with it.
    private struct ReplacedLog {
        /// The log that is to be emptied before the file is opened which has the name now.
        var waiting: FileStatus.Identity?

        /// The file that one was emptied for last: the log is that file's own from then on.
        var owner: FileStatus.Identity?
    }

    /// The keys of the file that is open, and which one that is: fetching them twice could ask a person twice.
    private let keys = LockedValue<(ring: KeyRing?, file: FileStatus.Identity?)>((nil, nil))

    init(path: StorePath, options: StoreOptions, isInspection: Bool) {
        self.path = path
        self.options = options
        self.isInspection = isInspection
    }

    /// Opens the file for reading only, now.
    ///
    /// - Returns: nil if there is no store.
    static func inspecting(_ path: StorePath, options: StoreOptions) throws -> FileConnections? {
        guard let session = try inspect(StoreOpener(path: path, options: options)) else { return nil }
        let connections = FileConnections(path: path, options: options, isInspection: true)
        connections.keys.withLock { $0 = (session.keyRing, nil) }
        if session.mayWait { connections.readers.add(session) }
        return connections
    }

    /// Opens the file for reading only; again where another program wrote to it meanwhile.
    private static func inspect(_ opener: StoreOpener) throws -> StoreConnection? {
        var attempts = UnlockedAttempts(at: opener.path, within: opener.options.busyTimeout)
        while true {
            do {
                return try opener.inspect()
            } catch is OutdatedRead {
                try attempts.next()
            }
        }
    }

    /// Runs `body` with a connection for reading; it may read again inside.
    ///
    /// An inspection that began without locks runs it again where another program came meanwhile, whose log and index
    /// are there now. It does not where the caller `isTold` what was read row by row; one who does not say is where
    /// `body` returns nothing.
    func read<Result: Sendable>(
        isTold: @autoclosure () -> Bool? = nil,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        func isTooLate() -> Bool { isTold() ?? (Result.self == Void.self) }
        var attempts = UnlockedAttempts(at: path, within: options.busyTimeout)
        return try TokenStoreError.translating(at: path) {
            while true {
                do {
                    return try followingName { try readOnce(isTold: isTooLate, body) }
                } catch is OutdatedRead {
                    // Those that wait in the pool are of the same moment.
                    readers.removeAll()
                    try attempts.next()
                }
            }
        }
    }

    /// - Throws: ``OutdatedRead`` if another program wrote to the file, and the caller knows nothing of what was read.
    private func readOnce<Result: Sendable>(
        isTold: () -> Bool,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result {
        try readers.withSession(checking: Self.requireCurrent, or: openReader) { session in
            do {
                let result = try body(session)
                guard session.isOutdated else { return result }
            } catch let error where UnlockedAttempts.mayBeTorn(error) {
                // What looks like damage may be pages of two moments.
                guard session.isOutdated else { throw error }
            }
            if isTold() { throw UnlockedAttempts.busy(path) }
            throw OutdatedRead()
        }
    }

    /// Runs `body` with a second connection beside one that a reader has; with nil where none is to be had.
    ///
    /// It does not wait for a writer, and does not follow the name to another file.
    func withSecond<Result>(
        to first: StoreConnection,
        _ body: (StoreConnection?, _ isFit: inout Bool) throws -> Result
    ) rethrows -> Result {
        try readers.withSecondSession(or: { try? openSecond(to: first) }, body)
    }

    private func openSecond(to first: StoreConnection) throws -> StoreConnection? {
        guard try !first.isReplaced() else { return nil }
        var options = options
        options.unlocks = false
        let opener = StoreOpener(path: path, options: options)
        return try isInspection ? opener.inspect() : opener.open()
    }

    private static func requireCurrent(_ session: StoreConnection) throws {
        try session.requireNameNowAndThen()
        try session.requireCurrent()
    }

    /// Runs `body` with the writing connection, outside a transaction.
    func withWriter<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        writes.withLock { writes in
            if writes.count == 0 { writes.since = .now }
            writes.count += 1
        }
        defer {
            writes.withLock { $0.count -= 1 }
            CommitObserver.announceCommit(path)
        }
        let result = try TokenStoreError.translating(at: path) { try followingName { try withWritingSession(body) } }
        // The next one waits for the file from now on.
        writes.withLock { $0.since = .now }
        return result
    }

    /// As ``withWriter(_:)``; nil if another thread has the connection all that time, and no longer waiting for others.
    func withWriter<Result: Sendable>(
        within limit: Duration,
        _ body: (StoreConnection) throws -> Result
    ) throws -> Result? {
        defer { CommitObserver.announceCommit(path) }
        return try TokenStoreError.translating(at: path) {
            try followingName {
                try writer.withSession(within: limit, checking: { try $0.requireName() }, or: openWriter) { session in
                    let connection = session.connection
                    return try connection.withBusyTimeout(min(connection.busyTimeout, limit)) { try body(session) }
                }
            }
        }
    }

    private func withWritingSession<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        func remembering(_ session: StoreConnection) throws -> Result {
            defer { keys.withLock { $0 = (session.keyRing, session.file) } }
            return try body(session)
        }
        return try writer.withSession(checking: { try $0.requireName() }, or: openWriter, remembering)
    }

    private func openWriter() throws -> StoreConnection {
        try replacedLog.withLock { replaced in
            guard let log = replaced.waiting else { return }
            guard try StoreFile(path: path, timeout: .zero).emptyLog(ofReplaced: log) else {
                throw TokenStoreError.busy(
                    "another file took the place of \(path.database), and another program still has the old one open",
                    Remedy(.closeOtherProgram, "close that program and try again")
                )
            }
            replaced = ReplacedLog(waiting: nil, owner: FileStatus(path.database)?.identity)
        }
        let session = try StoreOpener(path: path, options: options).open()
        session.ownCommits = watch.ownCommits
        // A caller that depends on what is in the files asks for it again, and is told why it cannot be had.
        if options.unlocks { _ = try? session.takeInAnswersIfUnlocked() }
        return session
    }

    /// Runs `body`, and again with the file that has the name now if the one that is open has it no longer.
    private func followingName<Result>(_ body: () throws -> Result) throws -> Result {
        for _ in 1...3 {
            do {
                return try body()
            } catch let replaced as ReplacedFile {
                if !isInspection { noteLog(of: replaced) }
                try closeEverything()
            }
        }
        throw TokenStoreError.busy("\(path.database) is being replaced again and again", .retryLater)
    }

    /// Has the log of a replaced file emptied, unless another thread was faster, and has done that and opened the new
    /// file, to which the log belongs by now.
    private func noteLog(of file: ReplacedFile) {
        let current = FileStatus(path.database)?.identity
        replacedLog.withLock { replaced in
            guard current == nil || replaced.owner != current else { return }
            replaced.waiting = file.log ?? replaced.waiting
        }
    }

    /// Closes the connections that are not in use; the next call that needs one opens it again.
    ///
    /// A program that ends calls this: a thread that has done its work may hold the store for a moment longer than the
    /// caller waits, and the process would end with the file open and its log not taken over.
    ///
    /// - Returns: whether none is in use.
    @discardableResult
    func close() -> Bool {
        // The writer last: without it no other connection is opened.
        readers.removeAll() && watch.close() && writer.close()
    }

    /// Closes every connection to a file that was replaced, before the new one is opened.
    private func closeEverything() throws {
        try writer.refuseItself()
        let start = ContinuousClock.now
        while !close() {
            guard ContinuousClock.now - start < options.busyTimeout else {
                throw TokenStoreError.busy(
                    "another file took the place of \(path.database) while it is still being read",
                    .retry
                )
            }
            Pauses.wait(.microseconds(Int.random(in: 500...2_000)))
        }
    }

    /// What memory holds of the file, after it has forgotten what commits of this process and others concern.
    func memoryVersion() throws -> MemoryVersion { try followingName { try watch.catchUp(or: openReader) } }

    /// Closes the connections for reading that are not in use.
    func closeReaders() { readers.removeAll() }

    /// The keys of the file that has the name; a reader waits for a writer only where none has opened that file yet.
    private func knownKeys() throws -> KeyRing? {
        let known = keys.withLock(\.self)
        let isCurrent = known.ring != nil && known.file == FileStatus(path.database)?.identity
        return try isInspection || isCurrent ? known.ring : withWritingSession { $0.keyRing }
    }

    private func openReader() throws -> StoreConnection {
        var options = options
        let keyRing = try knownKeys()
        if keyRing != nil { options.unlocks = false }
        let opener = StoreOpener(path: path, options: options)
        guard let session = try isInspection ? Self.inspect(opener) : opener.open() else {
            throw TokenStoreError.file("\(path.database) is gone", .signIn("import or sign in to make a new store"))
        }
        // A file that took the place of another may be of another store.
        if keyRing?.storeID == session.header.storeID { session.keyRing = keyRing }
        return session
    }
}

/// Another file took the place of one that is open, before anything was done with it.
struct ReplacedFile: Error {
    /// The log of the file that was open; with the new one it would be in the way.
    let log: FileStatus.Identity?
}
