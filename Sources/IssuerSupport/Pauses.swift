import Foundation
package import LocalIdentityProvider
import OAuth
import Synchronization

/// The waiting of a flow, in no time: each pause moves the clock, and lets a test act before it ends.
package final class Pauses: Sendable {
    private let clock: ProviderClock
    private let waited = LockedValue<[Duration]>([])
    private let acts = LockedValue<[Int: @Sendable () async throws -> Void]>([:])

    package init(_ clock: ProviderClock) { self.clock = clock }

    package var all: [Duration] { waited.withLock(\.self) }

    /// How long each pause was, in whole seconds.
    package var seconds: [Int64] { all.map(\.components.seconds) }

    /// Acts during a pause, counted from 1.
    package func during(_ number: Int, _ act: @escaping @Sendable () async throws -> Void) {
        acts.withLock { $0[number] = act }
    }

    package func pause(_ duration: Duration) async throws {
        try Task.checkCancellation()
        let number = waited.withLock {
            $0.append(duration)
            return $0.count
        }
        let (seconds, attoseconds) = duration.components
        clock.advance(by: TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18)
        try await acts.withLock { $0[number] }?()
        try Task.checkCancellation()
    }
}
