package import OAuth

/// A stored access token and why it is, or is not, the answer to a query.
package struct ConsideredToken: Sendable {
    package let clientID: String
    package let scope: Scope
    package let tokenType: String

    /// Unix seconds.
    package let expiresOn: Int64
    package let isTaken: Bool

    /// A sentence without a full stop.
    package let reason: String

    /// The same token, as the answer.
    func taken(_ reason: String) -> ConsideredToken {
        ConsideredToken(
            clientID: clientID,
            scope: scope,
            tokenType: tokenType,
            expiresOn: expiresOn,
            isTaken: true,
            reason: reason
        )
    }
}
