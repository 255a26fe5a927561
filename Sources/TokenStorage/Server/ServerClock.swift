import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The time by the server, by which all machines that share a store judge it: their own clocks may be minutes apart.
///
/// A token that a machine with a fast clock stored would otherwise be used after its end, and be from the future to one
/// with a slow clock.
package final class ServerClock: Sendable {
    private let own: @Sendable () -> Date

    /// How far the server is ahead, in milliseconds.
    private let difference = Atomic<Int64>(0)

    init(_ own: @escaping @Sendable () -> Date) { self.own = own }

    /// The time by the server, as far as it is known.
    var date: Date { own() + Double(difference.load(ordering: .relaxed)) / 1_000 }

    /// The time by this machine.
    var ownDate: Date { own() }

    /// Takes over what the server said at some moment since `start`, by this machine, in milliseconds.
    func learn(_ server: Int64, since start: Date) {
        let here = (start.timeIntervalSince1970 + own().timeIntervalSince1970) * 500
        let found = server.subtractingReportingOverflow(Int64(here))
        guard !found.overflow else { return }
        // Clocks that are kept by the network differ by less than an answer takes.
        difference.store(found.partialValue.magnitude < 1_000 ? 0 : found.partialValue, ordering: .relaxed)
    }
}
