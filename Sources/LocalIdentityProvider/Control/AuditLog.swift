package import Foundation
import OAuth
import Synchronization

/// What was asked of the provider, for tests to assert on.
package final class AuditLog: Sendable {
    /// Older entries are dropped, the counts are not.
    private static let maximumEntries = 10_000

    private struct State {
        var entries: [AuditEntry] = []
        var counts: [String: Int] = [:]
    }

    private let state = LockedValue(State())

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

/// One request as the audit log keeps it: no parameter, header or token.
package struct AuditEntry: Codable, Sendable {
    package let time: Date
    package let route: String
    package let status: Int
    /// `200`, or the error and suberror of the answer.
    package let outcome: String
    package let correlationID: String
}

/// What the provider would have sent by mail or text message.
package final class Outbox: Sendable {
    private let sent = LockedValue<[OutboxMessage]>([])

    /// Every message, oldest first; to one recipient when `recipient` is given.
    package func messages(to recipient: String? = nil) -> [OutboxMessage] {
        sent.withLock { $0.filter { recipient == nil || $0.to == recipient } }
    }

    func deliver(_ code: String, to method: SecondFactorMethod, purpose: String, at time: Date) {
        sent.withLock {
            $0.append(
                OutboxMessage(
                    id: $0.count + 1,
                    to: method.target,
                    channel: method.channel,
                    purpose: purpose,
                    subject: "Your code for \(purpose)",
                    code: code,
                    sentAt: time
                )
            )
        }
    }
}

/// One code on its way to a person; the only place where a code stands in clear, because it is the delivery.
package struct OutboxMessage: Codable, Sendable {
    package let id: Int
    package let to: String
    package let channel: String
    package let purpose: String
    package let subject: String
    package let code: String
    package let sentAt: Date
}
