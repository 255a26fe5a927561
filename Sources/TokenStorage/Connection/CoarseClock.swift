#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A monotonic clock that is read in a tenth of the time and moves in steps of some milliseconds.
enum CoarseClock {
    /// Nanoseconds since the system was started.
    static var now: Int64 {
        #if os(Linux)
        let clock = CLOCK_MONOTONIC_COARSE
        #else
        let clock = CLOCK_MONOTONIC_RAW_APPROX
        #endif
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension Duration {
    /// Whole nanoseconds; those of centuries are as many as there can be.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (nanoseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return isOverflow ? (seconds < 0 ? .min : .max) : nanoseconds + attoseconds / 1_000_000_000
    }
}
