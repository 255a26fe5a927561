#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Waits for a socket up to a deadline.
enum Socket {
    enum Outcome {
        case ready
        case late
        case failed
    }

    /// Waits until the socket can be read, or written if that is asked for.
    static func wait(
        _ socket: CInt,
        forReading: Bool = true,
        forWriting: Bool,
        until deadline: ContinuousClock.Instant
    ) -> Outcome {
        let events = (forReading ? Int32(POLLIN) : 0) | (forWriting ? Int32(POLLOUT) : 0)
        var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return .late }
            // Rounded up, so that the last millisecond is not spent in a loop.
            let milliseconds = min(left / .milliseconds(1), 60_000).rounded(.up)
            let count = poll(&entry, 1, CInt(milliseconds))
            if count > 0 { return .ready }
            if count < 0, errno != EINTR { return .failed }
        }
    }

    static func isReadable(_ socket: CInt) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }
}

extension Duration {
    /// Whole milliseconds, rounded up; of a longer time the most that libpq and the server take, 24 days.
    var wholeMilliseconds: Int { Int(min(self / .milliseconds(1), Double(Int32.max)).rounded(.up)) }
}
