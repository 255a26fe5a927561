import Database
import Dispatch
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
    /// Waiting costs nothing: the file system wakes it up, or the server. A subscriber too slow for the record of use,
    /// which keeps the last few thousand entries, is told ``StoreChange/many``. The sequence ends when its task is
    /// cancelled or the store can no longer be read. On a server a change is told when no older transaction is open any
    /// more, so that none is missed; while the server is away the sequence waits.
    public func changes() throws -> AsyncStream<StoreChange> {
        guard let path = location.path else { return try changesOnServer() }
        let watch = try CommitObserver(path)
        let (start, accounts) = try read { session in
            try session.connection.read { (try session.lastEvent(), try session.accountsByMark()) }
        }
        let (stream, continuation) = AsyncStream.makeStream(of: StoreChange.self)
        continuation.onTermination = { _ in watch.stop() }
        watch.start { [self] in report(from: start, about: accounts, to: continuation, waitingWith: watch) }
        return stream
    }

    /// Runs on the watch's thread until it is stopped.
    private func report(
        from start: Int64,
        about known: [[UInt8]: Account.ID],
        to continuation: AsyncStream<StoreChange>.Continuation,
        waitingWith watch: CommitObserver
    ) {
        var last = start
        // An account that is gone is in the record by its mark alone.
        var known = known
        var quietLooks = 0
        while true {
            // A store that cannot be read any more has no changes to tell; reading it again says why.
            guard let events = try? read({ try $0.events(after: last) }) else { break }
            if let first = events.first, first.id > last + 1 { continuation.yield(.many) }
            for event in events {
                if let mark = event.accountMark, let account = event.account, known.count < StoreEvent.limit * 2 {
                    known[mark] = account
                }
                continuation.yield(StoreChange(event, about: event.account ?? event.accountMark.flatMap { known[$0] }))
            }
            last = events.last?.id ?? last
            let wake = watch.wait(quietLooks < Self.looks.count ? Self.looks[quietLooks] : -1)
            if wake == .stopped { break }
            quietLooks = wake == .quiet ? quietLooks + 1 : 0
        }
        continuation.finish()
    }

    /// After how many milliseconds to look again for a commit whose process was killed before it could announce it.
    private static let looks: [Int32] = [20, 200, 2_000]
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

/// Wakes a separate thread when the files of a store are written.
final class CommitObserver: Sendable {
    /// What events are read from, and the pipe whose closing ends the waiting.
    private let events: Int32
    private let stopReader: Int32
    private let stopWriter: LockedValue<Int32>

    /// - Throws: ``TokenStoreError/Code/file`` if the system has no more watches.
    init(_ path: StorePath) throws(TokenStoreError) {
        guard let pipe = PrivatePipe() else { throw StoreFile.failure("watched", path.directory) }
        #if os(Linux)
        let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        let isWatching =
            descriptor >= 0
            && inotify_add_watch(descriptor, path.directory, UInt32(IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_MOVED_TO))
                >= 0
        #else
        let descriptor = kqueue()
        let watched = open(path.log, O_EVTONLY | O_CLOEXEC)
        var change = kevent(
            ident: UInt(watched),
            filter: Int16(EVFILT_VNODE),
            flags: UInt16(EV_ADD | EV_CLEAR),
            fflags: UInt32(NOTE_WRITE | NOTE_EXTEND | NOTE_ATTRIB),
            data: 0,
            udata: nil
        )
        let isWatching = kevent(descriptor, &change, 1, nil, 0, nil) >= 0
        #endif
        guard isWatching else {
            let failure =
                errno == EMFILE
                ? TokenStoreError.file(
                    "\(path.directory) cannot be watched, as this user watches too many places or has too many files open",
                    Remedy(.retry, "end other watches, or have fs.inotify.max_user_instances raised")
                ) : StoreFile.failure("watched", path.directory)
            if descriptor >= 0 { close(descriptor) }
            pipe.close()
            throw failure
        }
        events = descriptor
        stopReader = pipe.reading
        stopWriter = LockedValue(pipe.writing)
    }

    deinit {
        stop()
        close(events)
        close(stopReader)
    }

    /// Runs `body` on a separate thread, which may block.
    func start(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "tokenstore.changes").async(execute: body)
    }

    /// Ends the waiting for good.
    func stop() {
        stopWriter.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// What ended a wait.
    enum Wake {
        case written, quiet, stopped
    }

    /// Tells the watches of this and other processes that a commit can be read now.
    ///
    /// SQLite writes a commit to the log before others can read it, so that what that wakes may come too early.
    static func announceCommit(_ path: StorePath) {
        // A log that cannot be touched is one of a store that is going away.
        _ = utimensat(AT_FDCWD, path.log, nil, 0)
    }

    /// Waits until something may have been written, for no longer than some milliseconds unless that is negative.
    func wait(_ milliseconds: Int32) -> Wake {
        var polled = [
            pollfd(fd: events, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stopReader, events: Int16(POLLIN), revents: 0),
        ]
        var count = poll(&polled, 2, milliseconds)
        while count < 0, errno == EINTR { count = poll(&polled, 2, milliseconds) }
        if polled[1].revents != 0 { return .stopped }
        if count == 0 { return .quiet }
        drain()
        return .written
    }

    private func drain() {
        #if os(Linux)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(events, &buffer, buffer.count) > 0 {}
        #else
        var event = kevent()
        var now = timespec()
        while kevent(events, nil, 0, &event, 1, &now) > 0 {}
        #endif
    }
}
