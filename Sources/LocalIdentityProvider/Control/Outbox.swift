import Foundation
import OAuth

/// What the provider would have sent by mail or text message.
package final class Outbox: Sendable {
    private let sent = Guarded<[OutboxMessage]>([])

    /// Every message, oldest first; to one recipient when `recipient` is given.
    package func messages(to recipient: String? = nil) -> [OutboxMessage] {
        sent.withLock { $0.filter { recipient == nil || $0.to == recipient } }
    }

    func deliver(_ code: String, to method: AuthMethod, purpose: String, at time: Date) {
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
