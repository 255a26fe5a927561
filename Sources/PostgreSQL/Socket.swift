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
            let count = poll(&entry, 1, CInt(min(left.wholeMilliseconds, 60_000)))
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
    /// Whole milliseconds, rounded up, so that none is spent in a loop; of a longer time the most that libpq and the
    /// server take, 24 days.
    ///
    /// Without a division of durations, which each question to a server would wait for.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        let (perSecond, perMillisecond): (Int64, Int64) = (1_000, 1_000_000_000_000_000)
        guard seconds < Int64(Int32.max) / perSecond else { return Int(Int32.max) }
        guard self > .zero else { return 0 }
        return Int(seconds * perSecond + (attoseconds + perMillisecond - 1) / perMillisecond)
    }
}
