/// The last use of a refresh token, as far as it is known.
package struct RefreshAttempt: Hashable, Sendable {
    /// Unix seconds.
    package let startedAt: Int64
    package let program: String
    package let processID: Int64

    /// Whether the issuer has said that the token has ended; otherwise no answer was seen, and it may have been spent.
    package let hasEnded: Bool

    package init(startedAt: Int64, program: String, processID: Int64, hasEnded: Bool = false) {
        self.startedAt = startedAt
        self.program = program
        self.processID = processID
        self.hasEnded = hasEnded
    }
}
