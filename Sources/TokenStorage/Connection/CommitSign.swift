import SQLite
import Synchronization

/// Tells a lookup in memory whether anything was committed since, in so little time that each lookup can ask.
protocol CommitSign: AnyObject, Sendable {
    /// What memory holds of the store; nil where that is not known at once, or memory may not be used.
    var version: MemoryVersion? { get }
}

/// Tells states of a store apart, as far as they matter to what is kept in memory of it.
struct MemoryVersion: Equatable {
    /// Another where nothing of before is worth anything.
    var epoch: Int64

    /// Of a file, what changes with every commit.
    var commits = LogHeader.Words.zero
}

/// Until when what is in memory of a server may be served.
final class TrustSign: CommitSign {
    private let start = ContinuousClock.now

    /// Nanoseconds after the start.
    private let end = Atomic<Int64>(.min)

    /// Rises whenever memory is emptied.
    private let epoch = Atomic<Int64>(0)

    var version: MemoryVersion? {
        // In this order: memory that is trusted again was emptied before.
        guard isTrusted(at: .now) else { return nil }
        return MemoryVersion(epoch: epoch.load(ordering: .acquiring))
    }

    func isTrusted(at time: ContinuousClock.Instant) -> Bool {
        nanoseconds(to: time) <= end.load(ordering: .acquiring)
    }

    func empty() { epoch.wrappingAdd(1, ordering: .acquiringAndReleasing) }

    /// nil: memory may not be served.
    func trust(until time: ContinuousClock.Instant?) {
        end.store(time.map(nanoseconds) ?? .min, ordering: .releasing)
    }

    private func nanoseconds(to time: ContinuousClock.Instant) -> Int64 { start.duration(to: time).nanoseconds }
}
