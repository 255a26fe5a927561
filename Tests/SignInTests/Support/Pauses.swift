import Foundation
import LocalIdentityProvider
import Synchronization

/// The waiting of a sign-in, in no time: each pause moves the clock, and lets a test act before it ends.
final class Pauses: Sendable {
    private let clock: ProviderClock
    private let waited = Mutex<[Int64]>([])
    private let acts = Mutex<[Int: @Sendable () async throws -> Void]>([:])

    init(_ clock: ProviderClock) { self.clock = clock }

    /// How long each pause was, in seconds.
    var seconds: [Int64] { waited.withLock(\.self) }

    /// Acts during a pause, counted from 1.
    func during(_ number: Int, _ act: @escaping @Sendable () async throws -> Void) {
        acts.withLock { $0[number] = act }
    }

    func pause(_ duration: Duration) async throws {
        try Task.checkCancellation()
        let seconds = duration.components.seconds
        let number = waited.withLock {
            $0.append(seconds)
            return $0.count
        }
        clock.advance(by: TimeInterval(seconds))
        try await acts.withLock { $0[number] }?()
        try Task.checkCancellation()
    }
}
