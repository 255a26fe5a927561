package import Foundation
import OAuth

/// The provider's time: a source plus an offset that test control moves.
package final class ProviderClock: Sendable {
    private let source: @Sendable () -> Date
    private let offset = Guarded<TimeInterval>(0)

    package init(_ source: @escaping @Sendable () -> Date = { Date() }) { self.source = source }

    package var now: Date { source() + offset.withLock { $0 } }

    /// Moves the time; it never goes back by less than a caller asks for.
    package func advance(by seconds: TimeInterval) { offset.withLock { $0 += seconds } }

    package func set(to date: Date) { offset.withLock { $0 = date.timeIntervalSince(source()) } }
}
