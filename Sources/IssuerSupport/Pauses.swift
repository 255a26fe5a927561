import Foundation
package import LocalIdentityProvider
import Synchronization

/// The waiting of a flow, in no time: each pause moves the clock.
package final class Pauses: Sendable {
    private let clock: ProviderClock
    private let waited = Mutex<[Duration]>([])

    package init(_ clock: ProviderClock) { self.clock = clock }

    package var all: [Duration] { waited.withLock(\.self) }

    package func pause(_ duration: Duration) async throws {
        try Task.checkCancellation()
        waited.withLock { $0.append(duration) }
        let (seconds, attoseconds) = duration.components
        clock.advance(by: TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18)
    }
}
