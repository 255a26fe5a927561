import TokenStorage

/// A way to show accounts, one after the other.
protocol AccountListing {
    mutating func add(_ summary: AccountSummary) throws

    mutating func finish() throws
}
