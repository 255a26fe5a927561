import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Wakes a thread of its own when the files of a store are written.
final class StoreWatch: Sendable {
    /// What events are read from, and the pipe whose closing ends the waiting.
    private let events: Int32
    private let stopReader: Int32
    private let stopWriter: Mutex<Int32>

    /// - Throws: ``TokenStoreError/file(_:)`` if the system has no more watches.
    init(_ path: StorePath) throws(TokenStoreError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw StoreFile.failure("watched", path.directory) }
        #if os(Linux)
        let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        let isWatching = inotify_add_watch(descriptor, path.directory, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)) >= 0
        #else
        let descriptor = kqueue()
        let watched = open(path.log, O_EVTONLY | O_CLOEXEC)
        var change = kevent(
            ident: UInt(watched),
            filter: Int16(EVFILT_VNODE),
            flags: UInt16(EV_ADD | EV_CLEAR),
            fflags: UInt32(NOTE_WRITE | NOTE_EXTEND),
            data: 0,
            udata: nil
        )
        let isWatching = kevent(descriptor, &change, 1, nil, 0, nil) >= 0
        #endif
        guard isWatching else {
            for descriptor in [descriptor, ends[0], ends[1]] where descriptor >= 0 { close(descriptor) }
            throw StoreFile.failure("watched", path.directory)
        }
        events = descriptor
        stopReader = ends[0]
        stopWriter = Mutex(ends[1])
    }

    deinit {
        stop()
        close(events)
        close(stopReader)
    }

    /// Runs `body` on a thread of its own, which may block.
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

    /// Waits until something may have been written; false once stopped.
    func wait() -> Bool {
        var polled = [
            pollfd(fd: events, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stopReader, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&polled, 2, -1) < 0, errno == EINTR {}
        if polled[1].revents != 0 { return false }
        drain()
        return true
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
