/// What a failed refresh leaves behind in the store.
package struct RefreshConsequence: Sendable {
    /// What became of the refresh token.
    package enum Fate: Sendable {
        /// No answer was seen.
        case maybeSpent
        /// The issuer answered, or never saw the request.
        case unspent
        /// The issuer says that it is not to be sent again.
        case ended
        /// The issuer says that it is no good.
        case removed
    }

    package var token: Fate
    package var throttle: Throttle?

    /// Whether the client turned out not to be of the token's family.
    package var leavesFamily = false

    /// What the record of use says, if anything.
    package var event: String?

    package init(token: Fate) { self.token = token }
}
