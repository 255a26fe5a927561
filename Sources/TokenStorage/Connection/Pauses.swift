#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Waits that grow, each with some chance in it.
struct Pauses {
    private var milliseconds = 10

    mutating func next(until end: ContinuousClock.Instant) {
        let pause = Duration.milliseconds(Int.random(in: milliseconds / 2...milliseconds))
        milliseconds = min(milliseconds * 2, 250)
        Self.wait(min(pause, ContinuousClock.now.duration(to: end)))
    }

    /// Waits for a time, on a thread that may block.
    static func wait(_ duration: Duration) {
        let (seconds, attoseconds) = max(.zero, duration).components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        nanosleep(&time, nil)
    }
}
