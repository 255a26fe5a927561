package import Foundation

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
