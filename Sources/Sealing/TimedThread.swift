#if os(Linux)
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Work on a thread of its own, so that whoever waits for it can stop waiting.
final class TimedThread<Value: Sendable>: Sendable {
    private let value = Guarded<Value?>(nil)
    private let readingEnd: Int32
    private let writingEnd: Int32

    /// Starts `work`.
    init(_ work: @escaping @Sendable () -> Value) throws(SealingError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Self.failure(errno) }
        readingEnd = ends[0]
        writingEnd = ends[1]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        try Self.start(Body { self.finish(work()) })
    }

    /// What the work returned, nil if that takes longer than `limit`: then it goes on with nobody waiting.
    func wait(_ limit: Duration) -> Value? {
        let end = ContinuousClock.now + limit
        while true {
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            var descriptor = pollfd(fd: readingEnd, events: Int16(POLLIN), revents: 0)
            let count = poll(&descriptor, 1, Int32(clamping: Int64(max(0, left.rounded(.up)))))
            if count < 0, errno == EINTR { continue }
            return value.withLock { $0 }
        }
    }

    deinit {
        close(readingEnd)
        close(writingEnd)
    }

    private func finish(_ result: Value) {
        value.withLock { $0 = result }
        // Cannot fail: the other end is open as long as `self` lives.
        _ = write(writingEnd, "", 1)
    }

    private static func start(_ body: Body) throws(SealingError) {
        let argument = Unmanaged.passRetained(body)
        let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
            if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
            return nil
        }
        #if canImport(Musl)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let problem = pthread_create(&thread, nil, main, argument.toOpaque())
        guard problem == 0 else {
            argument.release()
            throw failure(problem)
        }
        #if canImport(Musl)
        if let thread { pthread_detach(thread) }
        #else
        pthread_detach(thread)
        #endif
    }

    private static func failure(_ number: Int32) -> SealingError {
        .keyUnavailable("no thread can be started, \(String(cString: strerror(number)).lowercased()); try again later")
    }
}

/// A closure that passes through a C pointer.
private final class Body {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
#endif
