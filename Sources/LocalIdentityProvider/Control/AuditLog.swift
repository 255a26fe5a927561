import OAuth

/// What was asked of the provider, for tests to assert on.
package final class AuditLog: Sendable {
    /// Older entries are dropped, the counts are not.
    static let maximumEntries = 10_000

    private struct State {
        var entries: [AuditEntry] = []
        var counts: [String: Int] = [:]
    }

    private let state = Guarded(State())

    /// How many requests a route has had since the start or the last ``reset()``.
    package func count(of route: String) -> Int { state.withLock { $0.counts[route] ?? 0 } }

    package var counts: [String: Int] { state.withLock { $0.counts } }

    package var entries: [AuditEntry] { state.withLock { $0.entries } }

    package func reset() { state.withLock { $0 = State() } }

    /// One line a route, such as `requests to token: 1`.
    package var summary: String {
        counts.sorted { $0.key < $1.key }.map { "requests to \($0.key): \($0.value)" }.joined(separator: "\n")
    }

    func record(_ entry: AuditEntry) {
        state.withLock {
            $0.counts[entry.route, default: 0] += 1
            if $0.entries.count >= Self.maximumEntries { $0.entries.removeFirst(Self.maximumEntries / 2) }
            $0.entries.append(entry)
        }
    }
}
