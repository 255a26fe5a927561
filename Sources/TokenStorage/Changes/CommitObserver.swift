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

/// Wakes the thread that reads changes when the files of a store are written.
final class CommitObserver: ChangeSignal {
    private let path: StorePath

    /// What events are read from, and the pipe by which this process wakes the thread itself.
    private let events: Int32
    private let pipe: PrivatePipe

    #if !os(Linux)
    /// A queue of Darwin watches open files: the directory, and the log.
    private let files = LockedValue<[Int32]>([])
    #endif

    /// - Throws: ``TokenStoreError/Code/file`` if the system has no more watches.
    init(_ path: StorePath) throws(TokenStoreError) {
        guard let pipe = PrivatePipe() else { throw StoreFile.failure("watched", path.directory) }
        #if os(Linux)
        let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        #else
        let descriptor = kqueue()
        #endif
        guard descriptor >= 0 else {
            let failure = Self.failure(path.directory)
            pipe.close()
            throw failure
        }
        (self.path, self.pipe, events) = (path, pipe, descriptor)
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
        close(events)
        pipe.close()
        #if !os(Linux)
        for file in files.withLock(\.self) { close(file) }
        #endif
    }

    /// Watches the directory that has the name now, which may have taken the place of another.
    func watch() throws(TokenStoreError) {
        #if os(Linux)
        let mask = UInt32(IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_MOVED_TO)
        guard inotify_add_watch(events, path.directory, mask) >= 0 else { throw Self.failure(path.directory) }
        #else
        guard watchFiles() else { throw Self.failure(path.directory) }
        #endif
    }

    #if !os(Linux)
    /// Watches the directory and the log that are there now: a restore or a repair puts another log in its place, which
    /// the directory tells.
    ///
    /// - Returns: false if the directory cannot be watched.
    @discardableResult
    private func watchFiles() -> Bool {
        files.withLock { files in
            let current = [path.directory, path.log].map { open($0, O_EVTONLY | O_CLOEXEC) }
            let areWatched = current.map { Self.watch($0, by: events) }
            // The queue forgets a file that is closed.
            for file in files { close(file) }
            files = current.filter { $0 >= 0 }
            return areWatched[0]
        }
    }

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
    #endif

    func wake() {
        var byte: UInt8 = 0
        _ = write(pipe.writing, &byte, 1)
    }

    /// Tells the watches of this and other processes that a commit can be read now.
    ///
    /// SQLite writes a commit to the log before others can read it, so that what that wakes may come too early.
    static func announceCommit(_ path: StorePath) {
        // A log that cannot be touched is one of a store that is going away.
        _ = utimensat(AT_FDCWD, path.log, nil, 0)
    }

    func wait(_ limit: Duration?) -> Bool {
        let milliseconds = limit.map { Int32($0 / .milliseconds(1)) } ?? -1
        var polled = [events, pipe.reading].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var count = poll(&polled, 2, milliseconds)
        while count < 0, errno == EINTR { count = poll(&polled, 2, milliseconds) }
        if polled[1].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            _ = read(pipe.reading, &bytes, bytes.count)
        }
        if count != 0 { drain() }
        return count != 0
    }

    private func drain() {
        #if os(Linux)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(events, &buffer, buffer.count) > 0 {}
        #else
        var event = kevent()
        var now = timespec()
        while kevent(events, nil, 0, &event, 1, &now) > 0 {}
        watchFiles()
        #endif
    }
}
