import OAuth
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Ids of rows on a server, made without asking it: they rise with the time, and rows of one account made in the same
/// millisecond by two programs differ by chance.
enum RowID {
    private static let latest = LockedValue<Int64>(0)

    /// How many bits the chance has; the time has 42, which are enough until the year 2109.
    private static let chance = 21

    /// A new id; of one process each is greater than the one before.
    static func next(at time: Date) -> Int64 {
        // A clock that was set to nonsense must not make ids that no later one is greater than.
        let milliseconds = Int64(max(0, min(time.timeIntervalSince1970 * 1_000, Double((1 << 42) - 1))))
        let id = milliseconds << chance | Int64.random(in: 0..<1 << chance)
        return latest.withLock { latest in
            latest = max(id, latest < .max ? latest + 1 : latest)
            return latest
        }
    }
}

extension [Int64] {
    /// The ids in their order, so many at a time as a server is asked about at once.
    var pages: [[Int64]] {
        stride(from: 0, to: count, by: 200).map { start in Array(self[start..<Swift.min(start + 200, count)]) }
    }
}
