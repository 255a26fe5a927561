#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

// Files, JSON and HTTP count whole seconds. The API has `Date` and `Duration`.

/// Beyond any calendar, and small enough that sums of times cannot overflow.
private let mostSeconds: Int64 = 1 << 53

extension Int64 {
    /// The last second of the year 9999 since 1970, which programs write for "never"; RFC 3339 has no later one.
    package static let lastUnixSecond: Int64 = 253_402_300_799

    /// The seconds since `start`, or the most there can be: a row of a store may hold any number.
    package func seconds(since start: Int64) -> Int64 {
        let (seconds, isOverflow) = subtractingReportingOverflow(start)
        return isOverflow ? (self < start ? .min : .max) : seconds
    }
}

extension Date {
    package init(unixSeconds: Int64) { self.init(timeIntervalSince1970: TimeInterval(unixSeconds)) }

    /// Whole seconds since 1970, rounded down; for a moment beyond any calendar, the last or first that counts.
    package var unixSeconds: Int64 {
        let seconds = timeIntervalSince1970.rounded(.down)
        guard abs(seconds) <= Double(mostSeconds) else { return seconds < 0 ? -mostSeconds : mostSeconds }
        return Int64(seconds)
    }
}

extension Duration {
    /// As long, but no longer than a task can sleep: a hundred years stand for ever.
    package var sleepable: Duration { min(self, .seconds(100 * 365 * 86_400)) }

    /// Whole seconds, rounded up, so that what must last so long does.
    package var secondsRoundedUp: Int64 {
        let (seconds, rest) = components
        return min(max(seconds, -mostSeconds), mostSeconds) + (rest > 0 ? 1 : 0)
    }
}
