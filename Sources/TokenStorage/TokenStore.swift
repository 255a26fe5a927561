import Dispatch
import OAuth
import SQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Accounts, claims and tokens that last: a sealed SQLite file that any number of processes share.
///
/// Its methods may be called from any thread. They block for as long as a disk write takes, or another process holds
/// the store; asynchronous code calls those that write through ``perform(_:)``.
///
/// ```swift
/// let store = try TokenStore.open(at: .standard(environment: ProcessInfo.processInfo.environment))
/// try store.save(response, for: request)
/// let accounts = try store.accounts(matching: .userFlow("B2C_1_SignIn"))
/// ```
public final class TokenStore: Sendable {
    /// The version of this package.
    public static let version = "0.2.0"

    public let path: StorePath
    package let options: StoreOptions
    private let isInspection: Bool

    /// Connections for reading: one per reader at a time, so that reads wait neither for each other nor for a write.
    private let readers = ConnectionPool()
    private let writer = LockedConnection()

    /// Notices commits; it reads nothing else, and so never misses one.
    private let observer = LockedConnection()
    let opened = AccessTokenCache()
    let unfinishedAnswers = UnfinishedAnswers()

    /// How many calls that write are under way, and since when there is any.
    private let writes = LockedValue((count: 0, since: ContinuousClock.now))

    /// The log of a file that was replaced while it was open here; nothing may be read together with it.
    private let replacedLog = LockedValue<FileStatus.Identity?>(nil)

    /// The keys of a store opened for inspection.
    private let inspectedKeys = LockedValue<KeyRing?>(nil)

    private init(path: StorePath, options: StoreOptions, isInspection: Bool) {
        self.path = path
        self.options = options
        self.isInspection = isInspection
    }

    /// Opens the store, creating it with a new key if there is none, and migrating an older one.
    ///
    /// - Throws: ``TokenStoreError``.
    public static func open(at path: StorePath, options: StoreOptions = StoreOptions()) throws -> TokenStore {
        let store = TokenStore(path: path, options: options, isInspection: false)
        try store.withWriter { _ in }
        return store
    }

    /// The store as it will be opened, or created, by the first call that needs it.
    package static func deferred(at path: StorePath, options: StoreOptions = StoreOptions()) -> TokenStore {
        TokenStore(path: path, options: options, isInspection: false)
    }

    /// Opens the store for reading only: nothing is written, not even a lock or a log.
    ///
    /// - Returns: nil if there is no store.
    /// - Throws: ``TokenStoreError``.
    public static func inspect(at path: StorePath, options: StoreOptions = StoreOptions()) throws -> TokenStore? {
        guard let session = try StoreOpener(path: path, options: options).inspect() else { return nil }
        let store = TokenStore(path: path, options: options, isInspection: true)
        store.inspectedKeys.withLock { $0 = session.keyRing }
        if session.mayWait { store.readers.add(session) }
        return store
    }

    /// Runs `body` with a connection for reading; it may read again inside.
    package func read<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        try TokenStoreError.translating(at: path) {
            try followingName {
                try readers.withSession(checking: { try $0.requireNameNowAndThen() }, or: openReader) { session in
                    let result = try body(session)
                    guard !session.isOutdated else {
                        throw TokenStoreError.busy(
                            "\(path.database) was opened for writing while it was read",
                            .retry
                        )
                    }
                    return result
                }
            }
        }
    }

    /// Runs `body` in a write transaction.
    package func write<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        try withWriter { session in try session.write { try body(session) } }
    }

    /// Runs `body` with the writing connection, outside a transaction.
    package func withWriter<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        writes.withLock { writes in
            if writes.count == 0 { writes.since = .now }
            writes.count += 1
        }
        defer {
            writes.withLock { $0.count -= 1 }
            CommitObserver.announceCommit(path)
        }
        return try withOpenWriter(body)
    }

    private static let longestWrite = Duration.milliseconds(300)

    /// Makes sure that it is not the store which keeps a caller waiting whose time is up: a write takes milliseconds
    /// unless another process holds the file.
    ///
    /// - Throws: ``TokenStoreError/Code/busy``.
    package func requireNoHolder() throws {
        let isWaiting = writes.withLock { $0.count > 0 && ContinuousClock.now - $0.since > Self.longestWrite }
        guard !isWaiting else { throw TokenStoreError.busy(at: path) }
    }

    private func withOpenWriter<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        guard !isInspection else {
            throw TokenStoreError.invalidArgument(
                "the store was opened for inspection",
                Remedy(.openForWriting, "open it for writing")
            )
        }
        return try TokenStoreError.translating(at: path) { try followingName { try withWritingSession(body) } }
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
                    let timeout = session.connection.busyTimeout
                    session.connection.busyTimeout = min(timeout, limit)
                    defer { session.connection.busyTimeout = timeout }
                    return try body(session)
                }
            }
        }
    }

    private func withWritingSession<Result: Sendable>(_ body: (StoreConnection) throws -> Result) throws -> Result {
        try writer.withSession(checking: { try $0.requireName() }, or: openWriter, body)
    }

    private func openWriter() throws -> StoreConnection {
        try replacedLog.withLock { log in
            guard try log.map({ try StoreFile(path: path, timeout: .zero).emptyLog(ofReplaced: $0) }) ?? true else {
                throw TokenStoreError.busy(
                    "another file took the place of \(path.database), and another program still has the old one open",
                    Remedy(.closeOtherProgram, "close that program and try again")
                )
            }
            log = nil
        }
        let session = try StoreOpener(path: path, options: options).open()
        guard options.unlocks, try !PendingFile.all(of: path).isEmpty else { return session }
        do {
            let lock = try KernelLock(.pendingAnswers, of: path, timeout: options.answerWait)
            defer { withExtendedLifetime(lock) {} }
            _ = try session.takeInAnswers()
        } catch {
            // A caller that depends on what is in the files asks for it again, and is told why it cannot be had.
        }
        return session
    }

    /// Runs `body`, and again with the file that has the name now if the one that is open has it no longer.
    private func followingName<Result>(_ body: () throws -> Result) throws -> Result {
        for _ in 1...3 {
            do {
                return try body()
            } catch let replaced as ReplacedFile {
                if !isInspection { replacedLog.withLock { $0 = replaced.log ?? $0 } }
                try closeEverything()
            }
        }
        throw TokenStoreError.busy("\(path.database) is being replaced again and again", .retryLater)
    }

    /// Closes the connections that are not in use; the next call that needs one opens it again.
    ///
    /// A program that ends calls this: a thread that has done its work may hold the store for a moment longer than the
    /// caller waits, and the process would end with the file open and its log not taken over.
    ///
    /// - Returns: whether none is in use.
    @discardableResult
    package func close() -> Bool {
        // The writer last: without it no other connection is opened.
        readers.removeAll() && observer.close() && writer.close()
    }

    /// Closes every connection to a file that was replaced, before the new one is opened.
    private func closeEverything() throws {
        let start = ContinuousClock.now
        while !close() {
            guard ContinuousClock.now - start < options.busyTimeout else {
                throw TokenStoreError.busy(
                    "another file took the place of \(path.database) while it is still being read",
                    .retry
                )
            }
            var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 500_000...2_000_000))
            nanosleep(&pause, nil)
        }
    }

    /// What changes with every commit, of this process or another; nil where that cannot be told.
    func dataVersion() throws -> DataVersion? {
        guard !isInspection else { return nil }
        return try followingName {
            try observer.withSession(checking: { try $0.requireNameNowAndThen() }, or: openReader) { session in
                DataVersion(file: session.file, number: try session.connection.dataVersion())
            }
        }
    }

    /// The commits of one file, counted.
    struct DataVersion: Equatable {
        let file: FileStatus.Identity?
        let number: Int64
    }

    /// Closes the connections for reading that are not in use.
    func closeReaders() { readers.removeAll() }

    private func openReader() throws -> StoreConnection {
        var options = options
        // The key was fetched when the store was opened; asking twice would ask a person twice.
        let keyRing = try isInspection ? inspectedKeys.withLock { $0 } : withWritingSession { $0.keyRing }
        if keyRing != nil { options.unlocks = false }
        let opener = StoreOpener(path: path, options: options)
        guard let session = try isInspection ? opener.inspect() : opener.open() else {
            throw TokenStoreError.file("\(path.database) is gone", .signIn("import or sign in to make a new store"))
        }
        // A file that took the place of another may be of another store.
        if keyRing?.storeID == session.header.storeID { session.keyRing = keyRing }
        return session
    }
}

extension TokenStore {
    /// Runs `body` away from the threads of Swift concurrency, which a disk write must not block.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable (TokenStore) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async {
                continuation.resume(with: Swift.Result { try body(self) })
            }
        }
    }

    private static let queue = DispatchQueue(label: "tokenstore", attributes: .concurrent)
}
