import OAuth
import Sealing
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Wakes a separate thread when the files of a store are written.
final class CommitObserver: Sendable {
    /// What events are read from, and the pipe whose closing ends the waiting.
    private let events: Int32
    private let stopReader: Int32
    private let stopWriter: LockedValue<Int32>

    #if !os(Linux)
    /// A queue of Darwin watches open files: the directory, and the log.
    private let path: StorePath
    private let directory: Int32
    private let log = LockedValue<Int32>(-1)
    #endif

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
        directory = open(path.directory, O_EVTONLY | O_CLOEXEC)
        let isWatching = descriptor >= 0 && Self.watch(directory, by: descriptor)
        #endif
        guard isWatching else {
            let failure = Self.failure(path.directory)
            if descriptor >= 0 { close(descriptor) }
            #if !os(Linux)
            if directory >= 0 { close(directory) }
            #endif
            pipe.close()
            throw failure
        }
        events = descriptor
        stopReader = pipe.reading
        stopWriter = LockedValue(pipe.writing)
        #if !os(Linux)
        self.path = path
        watchLog()
        #endif
    }

    /// Why a directory cannot be watched, by `errno`.
    static func failure(_ directory: String) -> TokenStoreError {
        // The kernel says of the last watch what it says of a full disk.
        guard errno == EMFILE || errno == ENOSPC else { return StoreFile.failure("watched", directory) }
        return .file(
            "\(directory) cannot be watched, as this user watches too many places or has too many files open",
            Remedy(.retry, "end other watches, or have fs.inotify.max_user_instances and max_user_watches raised")
        )
    }

    deinit {
        stop()
        close(events)
        close(stopReader)
        #if !os(Linux)
        close(directory)
        log.withLock { if $0 >= 0 { close($0) } }
        #endif
    }

    #if !os(Linux)
    /// Has a queue tell of changes of a file or a directory; false if it cannot.
    private static func watch(_ file: Int32, by queue: Int32) -> Bool {
        guard file >= 0 else { return false }
        var change = kevent(
            ident: UInt(file),
            filter: Int16(EVFILT_VNODE),
            flags: UInt16(EV_ADD | EV_CLEAR),
            fflags: UInt32(NOTE_WRITE | NOTE_EXTEND | NOTE_ATTRIB),
            data: 0,
            udata: nil
        )
        return kevent(queue, &change, 1, nil, 0, nil) >= 0
    }

    /// Watches the log that is there now: a restore or a repair puts another in its place, which the directory tells.
    private func watchLog() {
        log.withLock { log in
            let current = open(path.log, O_EVTONLY | O_CLOEXEC)
            _ = Self.watch(current, by: events)
            // The queue forgets a file that is closed.
            if log >= 0 { close(log) }
            log = current
        }
    }
    #endif

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
        watchLog()
        #endif
    }
}
