package import Foundation

/// One request as the audit log keeps it: no parameter, header or token.
package struct AuditEntry: Codable, Sendable {
    package let time: Date
    package let route: String
    package let status: Int
    /// `200`, or the error and suberror of the answer.
    package let outcome: String
    package let correlationID: String
}
