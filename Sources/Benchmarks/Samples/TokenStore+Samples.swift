import SQLite
import TokenStorage

extension TokenStore {
    /// Fills the store with made-up accounts, in pieces that each fit into memory.
    func fill(_ accounts: Range<Int>, accessTokens: Int, _ progress: (Int) -> Void = { _ in }) throws {
        // Room for the pages of the indexes that a piece touches all over.
        try withWriter { try $0.connection.execute("PRAGMA cache_size = -262144") }
        var start = accounts.lowerBound
        while start < accounts.upperBound {
            let end = min(start + 10_000, accounts.upperBound)
            let document = MSALDocument(accounts: start..<end, accessTokens: accessTokens).bytes
            _ = try document.withUnsafeBytes { try importMSALCache($0) }
            start = end
            progress(end)
        }
        try withWriter { try $0.connection.execute("PRAGMA cache_size = -2000") }
    }
}
