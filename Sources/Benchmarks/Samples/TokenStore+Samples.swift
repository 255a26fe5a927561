import TokenStorage

extension TokenStore {
    /// Fills the store with made-up accounts, in pieces that each fit into memory.
    func fill(_ accounts: Range<Int>, accessTokens: Int, _ progress: (Int) -> Void = { _ in }) throws {
        var start = accounts.lowerBound
        while start < accounts.upperBound {
            let end = min(start + 5_000, accounts.upperBound)
            let document = MSALDocument(accounts: start..<end, accessTokens: accessTokens).bytes
            _ = try document.withUnsafeBytes { try importMSALCache($0) }
            start = end
            progress(end)
        }
    }
}
