import TokenStorage

/// A way to show accounts, one after the other.
protocol AccountListing {
    mutating func add(_ summary: AccountSummary) throws

    /// Ends the list, whose accounts are the first of `total`.
    mutating func finish(of total: Int) throws
}
