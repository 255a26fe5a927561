/// A refresh request that brought no tokens.
struct UnansweredRefresh: Error {
    let failure: any Error

    /// Whether an earlier try of the same exchange may have reached the issuer.
    let mayBeSpent: Bool
}
